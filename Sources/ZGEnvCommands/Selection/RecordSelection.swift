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
                    + "\(scope.description), only for \(list(records)).")
        }
        throw ambiguous(key, holding, in: project.name)
    }

    /// Returns the scopes of a key's records in use, one for each branch, if all have the same version.
    ///
    /// - Throws: ``ExitCode/usage`` for different ones.
    static func scopesOfOneValue(
        _ key: String, _ records: [Variable], in project: String
    ) throws -> [Scope] {
        let versions = Set(records.map(\.currentVersion))
        guard records.count == 1 || versions.count == 1 && versions != [0] else {
            throw ambiguous(key, records, in: project)
        }
        return scopes(of: records)
    }

    /// Returns the scopes of records, one for each branch.
    static func scopes(of records: [Variable]) -> [Scope] {
        let scopes = Dictionary(grouping: records.map(\.attributes.scope), by: \.branch)
        return scopes.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { _, scopes in
            scopes.dropFirst().reduce(into: scopes[0]) { $0.formUnion($1) }
        }
    }

    /// Returns the records of a key, removed or in use, that have a version, the latest first.
    ///
    /// - Throws: ``ExitCode/notFound`` without any.
    static func having(
        version number: UInt64, of key: String, in project: VaultProject, of index: VaultIndex
    ) throws -> [(record: Variable, version: StoredVersion)] {
        let all = index.records(of: project.id, named: key)
        guard !all.isEmpty else { throw notFound(key, project, index) }
        let found = all.compactMap { record in
            History(of: record, in: index).version(number).map { (record, $0) }
        }.sorted { ($0.0.updatedAt, $1.0.id) > ($1.0.updatedAt, $0.0.id) }
        guard !found.isEmpty else {
            throw CommandError(
                .notFound, "\(key) has no version \(number).",
                hint: "List its versions with: zg-env history \(word: key)")
        }
        return found
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
            .usage, "\(key) has several values: \(self.list(records)).", hint: hint)
    }

    private static func list(_ records: [Variable]) -> String {
        records.map { $0.attributes.scope.description }.joined(separator: "; ")
    }
}
