package import Vault

/// The types of variables that are stricter on Vercel than in the vault. A push with --force keeps
/// them: it overwrites values, not types.
package struct StricterTypes {
    /// The type on Vercel, by record of the vault.
    package private(set) var kinds: [Identifier: VariableAttributes.Kind] = [:]

    /// - Parameters:
    ///   - variables: All records of the project.
    ///   - platform: All records of the project on Vercel.
    package init(variables: [Variable], platform: ListedRecords, rules: PushPlan.Rules) {
        guard rules.force, !rules.allowsWeaker else { return }
        let records = Dictionary(firstOf: platform.map { ($0.id, $0) })
        let owned = Set(variables.compactMap { $0.remote?.id })
        let unowned = Dictionary(grouping: platform.filter { !owned.contains($0.id) }, by: \.key)
        for variable in variables {
            guard variable.isLive, variable.currentVersion > 0, rules.includes(variable),
                !rules.makingRoom.contains(variable.id)
            else { continue }
            let own = variable.remote.flatMap { records[$0.id] }
            let replaced = (unowned[variable.name] ?? []).filter {
                $0.attributes.scope.overlaps(variable.attributes.scope)
            }
            // What Vercel had is as strict as what it has.
            let gone = own == nil ? variable.remote?.agreed.kind : nil
            let kinds =
                ((own.map { [$0] } ?? replaced).map(\.attributes.kind) + [gone].compactMap(\.self))
                .filter { [.plain, .encrypted, .sensitive].contains($0) }
            guard let kind = kinds.strictest,
                kind.strictness > variable.attributes.kind.strictness,
                kind != .sensitive || !variable.attributes.scope.targets.contains(.development)
            else { continue }
            self.kinds[variable.id] = kind
        }
    }

    package func apply(to variables: inout [Variable]) {
        if kinds.isEmpty { return }
        for position in variables.indices {
            guard let kind = kinds[variables[position].id] else { continue }
            variables[position].attributes.kind = kind
        }
    }
}
