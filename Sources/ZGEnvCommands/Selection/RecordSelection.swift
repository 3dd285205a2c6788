internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// Selects the records of one key for a command.
enum RecordSelection {
    /// Returns the key's records in use.
    ///
    /// - Throws: ``ExitCode/notFound`` without any.
    static func all(
        _ key: String, in project: VaultProject, of index: VaultIndex
    ) throws -> [Variable] {
        let records = index.variables(of: project.id, named: key)
        guard !records.isEmpty else { throw notFound(key, project, index) }
        return records
    }

    /// Returns the record in use that the options select, or the key's only one.
    ///
    /// - Throws: ``ExitCode/notFound``, or ``ExitCode/usage`` if there are several.
    static func one(
        _ key: String, in project: VaultProject, of index: VaultIndex, _ options: ScopeOptions
    ) throws -> Variable {
        let records = try all(key, in: project, of: index)
        guard let scope = try options.scope() else {
            if records.count == 1 { return records[0] }
            throw ambiguous(key, records, in: project.name)
        }
        if let exact = records.first(where: { $0.attributes.scope == scope }) { return exact }
        let holding = records.filter { $0.attributes.scope.overlaps(scope) }
        if holding.count == 1 { return holding[0] }
        guard !holding.isEmpty else {
            throw CommandError(
                .notFound,
                "\(key) in \(project.name) has no value for "
                    + "\(scope.description), only for \(scopes(of: records)).")
        }
        throw ambiguous(key, holding, in: project.name)
    }

    /// Returns the record, removed or in use, that has a version and that the options select. Of several,
    /// one with exactly the given scope wins, then those in use.
    ///
    /// - Parameter place: The place of a program whose effective record is preferred.
    static func one(
        _ key: String, withVersion number: UInt64, in project: VaultProject, of index: VaultIndex,
        _ options: ScopeOptions, _ place: ValueTarget? = nil
    ) throws -> Variable {
        let all = index.variables.filter { $0.project == project.id && $0.name == key }
        guard !all.isEmpty else { throw notFound(key, project, index) }
        var candidates = all.filter { History(of: $0, in: index).version(number) != nil }
        // A removed record may have been replaced by a wider one with the same numbers.
        if let scope = try options.scope() {
            let exact = candidates.filter { $0.attributes.scope == scope }
            if exact.count == 1 { return exact[0] }
        }
        if let place,
            let effective = EffectiveVariables.inPlace(place, among: candidates).first
        {
            return effective
        }
        if let scope = try options.scope() {
            candidates = candidates.filter { $0.attributes.scope.overlaps(scope) }
        }
        if candidates.count > 1, candidates.contains(where: \.isLive) {
            candidates = candidates.filter(\.isLive)
        }
        guard let only = candidates.first else {
            throw CommandError(
                .notFound, "\(key) has no version \(number).",
                hint: "List its versions with: zg-env history \(word: key)")
        }
        guard candidates.count == 1 else { throw ambiguous(key, candidates, in: project.name) }
        return only
    }

    static func notFound(_ key: String, _ project: VaultProject, _ index: VaultIndex)
        -> CommandError
    {
        let names = Set(index.variables(of: project.id).map(\.name)).sorted()
        let near = Suggestion.nearest(to: key, among: names)
        return CommandError(
            .notFound,
            "\(project.name) has no variable \(key).",
            hint: near.map { "Did you mean \($0)?" } ?? "List the variables with: zg-env list")
    }

    static func ambiguous(
        _ key: String, _ records: [Variable], in project: String
    ) -> CommandError {
        var hint = "Choose a target with -t, or a branch with -b."
        let scopes = records.filter(\.isLive).map(\.attributes.scope).filter { $0.branch == nil }
        if scopes.count > 1 {
            let all = Scope(
                targets: scopes.reduce([]) { $0.union($1.targets) },
                customEnvironments: scopes.flatMap(\.customEnvironments))
            hint +=
                " To use a single value for all of these targets again, run: "
                + "zg-env set \(word: key) -p \(word: project)\(all.optionText)"
        }
        return CommandError(
            .usage, "\(key) has several values: \(self.scopes(of: records)).", hint: hint)
    }

    private static func scopes(of records: [Variable]) -> String {
        records.map { $0.attributes.scope.description }.joined(separator: "; ")
    }
}
