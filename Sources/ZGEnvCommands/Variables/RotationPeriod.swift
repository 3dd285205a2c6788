internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Vault

/// `set --rotate-every`: after which time a value should be replaced. `status` names those that are
/// older.
enum RotationPeriod {
    static let option = OptionSpec(
        "rotate-every", value: "TIME",
        "Have status name it when its value is older, such as 90d; never to end that")

    /// The period that is asked for, in seconds, 0 for never; nil where none is.
    static func seconds(_ text: String?) throws -> UInt64? {
        guard let text else { return nil }
        if text == "never" { return 0 }
        guard let duration = DurationText.duration(text), duration > .zero else {
            throw CommandError(
                .usage, "--rotate-every takes a whole number and s, m, h or d, or never.")
        }
        return UInt64(clamping: duration.components.seconds)
    }

    /// The records that get a period and no new value: those of a key that is there, where no value
    /// comes along.
    static func recordsAlone(
        _ key: String, _ project: VaultProject, _ index: VaultIndex, _ wanted: Scope?
    ) -> [Variable]? {
        let records = index.variables(of: project.id, named: key)
        guard !records.isEmpty, !hasInput() else { return nil }
        guard let wanted else { return records }
        let meant = records.filter { $0.attributes.scope.overlaps(wanted) }
        return meant.isEmpty ? nil : meant
    }

    /// Tells whether a value waits on stdin. A terminal brings none by itself.
    private static func hasInput() -> Bool {
        if TerminalDevice.isTerminal(0) { return false }
        var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        var state = stat()
        guard unsafe fstat(0, &state) == 0 else { return false }
        // What is empty for ever: the null device, or a file of no length.
        if state.st_mode & S_IFMT == S_IFCHR { return false }
        if state.st_mode & S_IFMT == S_IFREG { return state.st_size > 0 }
        // A pipe: its writer says within a moment whether there is anything.
        guard unsafe poll(&entry, 1, -1) > 0 else { return false }
        return entry.revents & Int16(POLLIN) != 0
    }

    /// Keeps a period without another value.
    static func keep(
        _ seconds: UInt64, _ key: String, _ project: VaultProject, _ records: [Variable],
        _ workspace: Workspace
    ) throws -> CommandResult {
        if !workspace.options.dryRun {
            try set(seconds, Set(records.map(\.id)), workspace)
            workspace.note(
                seconds == 0
                    ? "\(key) of \(project.name) has no period any more."
                    : "\(key) of \(project.name) is due when its value is \(DurationText.text(.seconds(Int64(clamping: seconds)))) old."
            )
        }
        return CommandResult(json: [
            "project": .string(project.name), "key": .string(key),
            "rotateEverySeconds": seconds == 0 ? .null : .integer(Int64(clamping: seconds)),
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }

    static func set(
        _ seconds: UInt64, _ records: Set<Identifier>, _ workspace: Workspace
    ) throws {
        try workspace.session.update(with: try workspace.session.keys(.index)) { transaction in
            for position in transaction.index.variables.indices
            where records.contains(transaction.index.variables[position].id) {
                transaction.index.variables[position].rotationSeconds = seconds
            }
        }
    }
}
