internal import EnvOperations
internal import Sealing
internal import Vault

/// One use of `edit`: the vault it was opened from, and the changes put into it.
struct EditWork {
    /// Somebody else changed what was edited. Nothing was written.
    struct Conflict: Error {
        let keys: [String]

        var error: CommandError {
            let names = keys.joined(separator: ", ")
            return CommandError(
                .conflict, "Somebody else changed this meanwhile: \(names).",
                hint: "Nothing was changed; run the command again.")
        }
    }

    private let workspace: Workspace
    private let key: String?
    private let options: ScopeOptions
    private var session: VaultSession
    private var keys: VaultKeys
    private(set) var values: EditableValues

    /// Opens the values, which asks for the passphrase where nothing else opens them.
    init(_ workspace: Workspace, key: String?, _ options: ScopeOptions) throws {
        self.options = options
        self.workspace = workspace
        self.key = key
        session = workspace.session
        keys = try session.keys(.values)
        values = try EditableValues(workspace, key: key, options, keys: keys)
    }

    /// Has the audit log say that the values go out, before they do.
    func audit() throws {
        try workspace.audit(
            AuditEntry.Outcome.givenOut, values.keys, project: values.project.name,
            place: values.title, seen: values.metadata)
    }

    /// Puts the changes into the vault, all or none.
    ///
    /// - Throws: ``Conflict`` when a record is not as the text knew it.
    func apply(_ plan: EditPlan, _ edited: EditedText) throws {
        let time = workspace.context.now()
        let project = values.project.id
        try session.update(with: keys) { transaction in
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
        let position: Int
        if let known, step.record?.attributes.scope == step.scope {
            position = known
        } else {
            let records = transaction.index.variables.filter {
                $0.project == project && $0.name == step.key
            }
            try SensitiveScope.check(step.scope, nil, among: records.filter(\.isLive))
            position =
                transaction.assign(
                    step.scope, to: step.key, of: project, records: records,
                    kind: step.record?.attributes.kind ?? .encrypted, at: time
                ).position
        }
        try value.withBytes { bytes in
            _ = try transaction.store(bytes, forVariableAt: position, at: time)
        }
    }

    /// Looks at the vault anew, so that the same text can be edited on after a write that failed.
    mutating func reopen(after error: any Error) throws {
        if let error = error as? VaultError, error.code == .epochChanged {
            // The keys of before open nothing any more.
            session = VaultSession(
                options: workspace.options, context: workspace.context,
                command: workspace.command)
            keys = try session.keys(.values)
        }
        guard let conflict = error as? Conflict else { return }
        workspace.session.forgetVault()
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
