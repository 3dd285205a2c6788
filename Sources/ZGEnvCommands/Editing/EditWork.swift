internal import EnvOperations
internal import Sealing
internal import Vault

/// One run of `edit`: opens the values and applies the changes.
struct EditWork {
    /// Someone else changed the edited variables; nothing was written.
    struct Conflict: Error {
        let keys: [String]

        var error: CommandError {
            let names = keys.joined(separator: ", ")
            return CommandError(
                .conflict, "Someone else has since changed: \(names).",
                hint: "Your edits were not saved. Run the command again.")
        }
    }

    private let workspace: Workspace
    private let key: String?
    private let options: ScopeOptions
    private var session: VaultSession
    private var keys: VaultKeys
    private(set) var values: EditableValues

    /// Opens the values, which may ask for the passphrase.
    init(_ workspace: Workspace, key: String?, _ options: ScopeOptions) throws {
        self.options = options
        self.workspace = workspace
        self.key = key
        session = workspace.session
        keys = try session.keys(.values)
        values = try EditableValues(workspace, key: key, options, keys: keys)
    }

    /// Writes to the audit log that the values are revealed; must be called before they are.
    func audit() throws {
        try workspace.audit(
            AuditEntry.Outcome.givenOut, values.keys, project: values.project.name,
            place: values.title, seen: values.metadata)
    }

    /// Returns what the schema of the project says; nil without one.
    func advice() throws -> SchemaAdvice? {
        let index = try session.index(.listing)
        return try SchemaAdvice.find(for: values.project, in: index, workspace)
    }

    /// Saves all changes in one transaction.
    ///
    /// - Throws: ``Conflict`` if a record is no longer what the text was made from.
    func apply(_ plan: EditPlan, _ edited: EditedText) throws {
        let time = workspace.context.now()
        let project = values.project.id
        try session.commit { transaction, _ in
            guard transaction.index.projects.contains(where: { $0.id == project }) else {
                throw Conflict(keys: plan.steps.map(\.key))
            }
            let records = transaction.index.variables.filter { $0.project == project }
            let conflicts = plan.conflicts(with: records)
            guard conflicts.isEmpty else { throw Conflict(keys: conflicts) }
            for step in plan.steps {
                try Self.apply(
                    step, edited.value(of: step.key), project, at: time, to: &transaction)
            }
        }
    }

    private static func apply(
        _ step: EditPlan.Step, _ value: SecretSlice?, _ project: Identifier, at time: UInt64,
        to transaction: inout VaultTransaction
    ) throws {
        let known = step.record.flatMap { transaction.position(of: $0.id) }
        guard step.change != .removed else {
            guard let known else { return }
            if let left = step.left {
                transaction.index.variables[known].attributes.scope = left
                transaction.index.variables[known].updatedAt = time
            } else {
                transaction.remove(at: known, time: time)
            }
            return
        }
        guard let value else { return }
        let records = transaction.index.records(of: project, named: step.key)
        if step.record?.attributes.scope != step.scope {
            try SensitiveScope.check(step.scope, of: step.key, among: records)
        }
        _ = try value.withBytes { bytes in
            try transaction.assign(bytes, to: step.scope, of: step.key, in: project, at: time)
        }
    }

    /// Reads the vault again, so that the same text can be edited further after a failed write.
    mutating func reopen(after error: any Error) throws {
        if let error = error as? VaultError, error.code == .epochChanged {
            // The old keys no longer open anything.
            session = VaultSession(
                options: workspace.options, context: workspace.context,
                command: workspace.command,
                stages: workspace.session.stages)
            keys = try session.keys(.values)
        }
        guard let conflict = error as? Conflict else { return }
        workspace.session.closeVault()
        let newer: EditableValues
        do {
            newer = try EditableValues(workspace, key: key, options, keys: keys)
        } catch let gone as CommandError where gone.code == .notFound && key != nil {
            values.forget(Set(conflict.keys))
            return
        }
        values.rebase(on: newer, for: Set(conflict.keys))
    }
}
