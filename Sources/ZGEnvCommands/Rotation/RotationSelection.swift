internal import CommandLineKit
internal import Sealing
internal import Vault

/// The records of a rotation and the one value that they share. Values are compared in guarded
/// memory and never shown.
struct RotationSelection {
    /// One project with at least one record.
    struct Found {
        let project: VaultProject
        var records: [Variable]
        /// The number that the next value of the variable gets.
        let newVersion: UInt64
    }

    /// The named projects first, then those of `--everywhere`.
    private(set) var found: [Found] = []
    /// The value of the records; nil if the vault does not have it.
    private(set) var old: SecretSlice?

    private let request: RotationRequest
    private let index: VaultIndex
    private let reader: ValueReader
    private let arena = SecretArena()

    /// Returns the selected records whose value the vault does not have.
    static func missing(
        _ request: RotationRequest, _ workspace: Workspace, keys: VaultKeys
    ) throws -> [Found] {
        let selection = try RotationSelection(named: request, workspace, keys: keys)
        return selection.found.compactMap { place in
            var place = place
            place.records.removeAll { $0.currentVersion > 0 }
            return place.records.isEmpty ? nil : place
        }
    }

    init(_ request: RotationRequest, _ workspace: Workspace, keys: VaultKeys) throws {
        try self.init(named: request, workspace, keys: keys)
        try compare(workspace)
        if request.everywhere { try addOthers() }
        try Self.checkNoneIsOpen(
            for: Set(found.flatMap { $0.records.map(\.id) }), key: request.key, in: index)
    }

    /// Finds the records of the named projects.
    private init(named request: RotationRequest, _ workspace: Workspace, keys: VaultKeys) throws {
        self.request = request
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        self.index = index
        let projects = try Self.projects(request, index, workspace)
        let sent = projects.flatMap { index.variables(of: $0.id, named: request.key) }
        try SendingGate.check(Set(sent.map(\.id)), in: index, workspace.context)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.", hint: "Run: zg-env unlock")
        }
        self.reader = reader
        for project in projects {
            try add(records(of: project), of: project)
        }
    }

    private mutating func add(_ records: [Variable], of project: VaultProject) throws {
        let newVersion = try index.nextVersion(of: project.id, named: request.key)
        found.append(Found(project: project, records: records, newVersion: newVersion))
    }

    private static func projects(
        _ request: RotationRequest, _ index: VaultIndex, _ workspace: Workspace
    ) throws -> [VaultProject] {
        func named(_ name: String) throws -> VaultProject {
            guard let project = index.project(named: name) else {
                throw ProjectResolver.notFound(name, in: index)
            }
            return project
        }
        var projects =
            request.projects.isEmpty
            ? [try ProjectResolver(workspace).existing(in: index)]
            : try request.projects.map(named)
        projects += try request.alsoProjects.map(named)
        return projects.unique(by: \.id)
    }

    private func records(of project: VaultProject) throws -> [Variable] {
        let records = index.variables(of: project.id, named: request.key)
        guard !records.isEmpty else {
            throw RecordSelection.notFound(request.key, project, index)
        }
        guard let scope = request.scope else { return records }
        let holders = records.filter { $0.attributes.scope.overlaps(scope) }
        let missing = holders.reduce(scope) { $0.subtracting($1.attributes.scope) }
        let isWider = holders.contains { !$0.attributes.scope.subtracting(scope).isEmpty }
        guard !holders.isEmpty, missing.isEmpty, !isWider || request.includesOverlapping else {
            throw CommandError(
                .notFound,
                "\(request.key) in \(project.name) has no value for "
                    + "\((missing.isEmpty ? scope : missing).description).")
        }
        return holders
    }

    /// Decrypts the values, and requires them to be equal.
    private mutating func compare(_ workspace: Workspace) throws {
        for place in found {
            for record in place.records {
                guard let value = try reader.currentValue(of: record, in: arena) else {
                    try missing(record, place.project, workspace)
                    continue
                }
                guard let known = old else {
                    old = value
                    continue
                }
                guard known.equals(value) else {
                    throw CommandError(
                        .usage,
                        "The selected targets of \(request.key) have different values.",
                        hint: "Choose one target with -t, or only projects with the same value.")
                }
            }
        }
    }

    private func missing(
        _ record: Variable, _ project: VaultProject, _ workspace: Workspace
    ) throws {
        let name = "\(record.name) in \(project.name)"
        guard request.allowsMissing || request.failurePolicy == .keep else {
            throw CommandError(
                .notFound,
                "The vault does not have the value of \(name), so the rotation could not be reverted if it failed.",
                hint: "Set the value first, or use --allow-missing to rotate without being able to "
                    + "revert."
            )
        }
        workspace.context.warn(
            "no-old-value",
            "\(name): the vault has no old value, so the rotation cannot be reverted.")
    }

    /// Adds every other bound project with the same API origin and a record with this value.
    ///
    /// - Throws: An error for a damaged value, which cannot be compared.
    private mutating func addOthers() throws {
        guard let old else { return }
        let origin = found.first?.project.binding?.origin
        let known = Set(found.map(\.project.id))
        for project in index.projects
        where !known.contains(project.id) && project.binding != nil
            && (origin == nil || project.binding?.origin == origin)
        {
            let records = try index.variables(of: project.id, named: request.key).filter {
                try reader.currentValue(of: $0, in: arena)?.equals(old) ?? false
            }
            if !records.isEmpty { try add(records, of: project) }
        }
    }

    /// Returns descriptions of what keeps the old value after `--revoke`: other records, and the rest
    /// of the scopes of records that are split.
    ///
    /// - Throws: An error for a damaged value, which cannot be compared.
    func copies() throws -> [String] {
        guard request.commands.revoke != nil, let old else { return [] }
        let split = found.flatMap { place in
            place.records.compactMap { record -> String? in
                guard let scope = request.scope else { return nil }
                let rest = record.attributes.scope.subtracting(scope)
                if rest.isEmpty { return nil }
                return RotationLeftovers.name(record.name, place.project.name, rest)
            }
        }
        return try split
            + RotationLeftovers.copies(
                of: old, besides: Set(found.flatMap { $0.records.map(\.id) }), in: index, reader)
    }

    /// Throws ``ExitCode/conflict`` if a rotation of one of the records is open.
    static func checkNoneIsOpen(
        for records: Set<Identifier>, key: String, in index: VaultIndex
    ) throws {
        let open = try index.rotations().first { rotation in
            rotation.isOpen
                && rotation.plan.members.contains { member in
                    member.records.contains { records.contains($0.variable) }
                }
        }
        guard open != nil else { return }
        throw CommandError(
            .conflict, "A rotation of \(key) is not finished.",
            hint:
                "Resume it with: zg-env rotate \(word: key) --resume, or revert it with: zg-env rotate \(word: key) --abort"
        )
    }
}
