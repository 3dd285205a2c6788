internal import Groups
internal import Vault

extension StateApplication {
    /// What a name stood for in a project before the changes of a sync.
    ///
    /// A colleague who removes a variable and creates it again makes another record of that name, and
    /// so does one who changes a part of the scope: compared with itself alone, the new record would
    /// be neither weaker nor wider than anything.
    struct Precedents {
        private struct Precedent {
            let variable: Identifier
            let isLive: Bool
            let kind: VariableAttributes.Kind
            let scope: Scope
        }

        private var named: [[UInt8]: [Precedent]] = [:]

        init(of shared: SharedProject, in index: VaultIndex) {
            let held = Dictionary(
                shared.held.map { ($0.variable, $0) }, uniquingKeysWith: { first, _ in first })
            let former = index.formerNames
            for variable in index.variables where variable.project == shared.project {
                let accepted = held[variable.id]
                // What is only offered by a writer was never in use, nor what has no value here and
                // is not sensitive: Vercel does not show the value of one that is.
                let kind = accepted?.kind ?? variable.attributes.kind
                if accepted?.isOffer == true || variable.highestVersion == 0 && kind != .sensitive {
                    continue
                }
                let precedent = Precedent(
                    variable: variable.id, isLive: variable.isLive, kind: kind,
                    scope: accepted?.scope ?? variable.attributes.scope)
                let names = [variable.name, accepted?.name ?? variable.name]
                for name in Set((names + (former[variable.id] ?? [])).map { Array($0.utf8) }) {
                    named[name, default: []].append(precedent)
                }
            }
        }

        /// Gives the acceptance of a new variable the strictest type and the scopes of its name.
        func limit(_ change: inout HeldChange, of variable: Variable) {
            let all = (named[Array(variable.name.utf8)] ?? []).filter {
                $0.variable != variable.id
            }
            // A removed one no longer matters once another one is accepted in all of its places.
            let live = all.filter(\.isLive)
            let found = all.filter { precedent in
                precedent.isLive || !live.contains { $0.scope.contains(precedent.scope) }
            }
            guard let first = found.first else { return }
            for precedent in found where precedent.kind.strictness > change.kind.strictness {
                change.kind = precedent.kind
            }
            // A variable without a branch applies in all of them.
            let branch = variable.attributes.scope.branch
            let scopes = found.map(\.scope).filter { $0.branch == nil || $0.branch == branch }
            change.scope =
                scopes.isEmpty
                ? first.scope
                : Scope(
                    targets: scopes.reduce(into: []) { $0.formUnion($1.targets) },
                    customEnvironments: scopes.flatMap(\.customEnvironments), branch: branch)
        }
    }

    /// Returns what the user has to accept of a variable from now on.
    ///
    /// - Parameter before: The variable before the changes; nil if it is new here.
    func held(
        _ old: HeldChange?, _ record: RecordState, from before: Variable?, to after: Variable,
        _ precedents: Precedents
    ) -> HeldChange? {
        let authors = [Assigned.value, .name, .scope, .type].flatMap {
            self.authors(of: record, $0)
        }
        guard let author = authors.first(where: { $0 != me }) ?? old?.author else { return nil }
        let isNew = before == nil || (old?.isOffer == true && isTaken(record))
        var new = HeldChange(of: before ?? after, author: author)
        if isNew { precedents.limit(&new, of: after) } else if let old { new = old }
        if let before, !before.name.utf8.elementsEqual(after.name.utf8) {
            // It takes the place of what had its new name. A new name waits in any scope.
            var taken = HeldChange(of: after, author: author)
            precedents.limit(&taken, of: after)
            if taken.kind.strictness > new.kind.strictness { new.kind = taken.kind }
        }
        new.author = author
        if before?.isLive != true, after.isLive, isByWriter(record, isNew: before == nil) {
            new.scope = HeldChange.nowhere
        }
        let begins =
            before.map { before in
                !before.isLive || before.currentVersion != after.currentVersion
                    || !before.name.utf8.elementsEqual(after.name.utf8)
                    || !after.attributes.scope.isIncluded(in: before.attributes.scope)
            } ?? true
        if begins || isNew, affectsPrograms(after.name) { new.version = after.currentVersion }
        return new.effects(on: after).isEmpty ? nil : new
    }

    private func authors(of record: RecordState, _ thing: Assigned) -> [Identifier] {
        (record.candidates[thing] ?? []).compactMap { origins[$0.change]?.author }
    }

    /// Whether what appears here is a writer's work: a new variable that a writer created, or a removed
    /// one that has a writer's value.
    private func isByWriter(_ record: RecordState, isNew: Bool) -> Bool {
        if record.isOffered { return true }
        let hasValue = authors(of: record, .value).contains(where: writers.contains)
        return hasValue && (!isNew || authors(of: record, .name).allSatisfy(writers.contains))
    }

    /// Whether a colleague who is not a writer chose the value of what a writer created.
    private func isTaken(_ record: RecordState) -> Bool {
        let authors = authors(of: record, .value)
        return !record.isOffered && !authors.isEmpty && !authors.contains(where: writers.contains)
    }
}
