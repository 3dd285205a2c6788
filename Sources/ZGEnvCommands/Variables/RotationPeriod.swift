internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Vault

/// `set --rotate-every`: the age at which `status` reports a value as due for rotation.
enum RotationPeriod {
    static let option = OptionSpec(
        "rotate-every", value: "TIME",
        "Report the value as due for rotation after TIME, such as 90d; 'never' turns this off")

    /// Parses a period into seconds, with 0 for `never`.
    static func seconds(_ text: String?) throws -> UInt64? {
        guard let text else { return nil }
        if text == "never" { return 0 }
        guard let duration = DurationText.duration(text), duration > .zero else {
            throw CommandError(
                .usage, "--rotate-every takes a time such as 90d (units: s, m, h, d), or never.")
        }
        return UInt64(clamping: duration.components.seconds)
    }

    /// Returns the records to change if only a period was given and no new value; nil otherwise, and
    /// if one of the keys has no record.
    static func recordsWithoutNewValue(
        _ keys: [String], _ project: VaultProject, _ index: VaultIndex, _ options: ScopeOptions
    ) throws -> [Variable]? {
        let wanted = try options.scope()
        let records = keys.map { key in
            index.variables(of: project.id, named: key).filter { record in
                wanted.map { record.attributes.scope.overlaps($0) } ?? true
            }
        }
        if records.contains(where: \.isEmpty) || hasInput() { return nil }
        for record in records.joined() { try options.checkContains(record) }
        return records.flatMap(\.self)
    }

    /// Returns whether stdin has a value. A terminal does not count.
    private static func hasInput() -> Bool {
        if TerminalDevice.isTerminal(0) { return false }
        var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        var state = stat()
        guard unsafe fstat(0, &state) == 0 else { return false }
        // /dev/null and empty files have no value.
        if state.st_mode & S_IFMT == S_IFCHR { return false }
        if state.st_mode & S_IFMT == S_IFREG { return state.st_size > 0 }
        // Waits for the writer of a pipe to write something or to close it.
        guard unsafe poll(&entry, 1, -1) > 0 else { return false }
        return entry.revents & Int16(POLLIN) != 0
    }

    /// Sets the period of records and reports it.
    static func keep(
        _ seconds: UInt64, _ keys: [String], _ project: VaultProject, _ records: [Variable],
        _ workspace: Workspace
    ) throws -> CommandResult {
        if !workspace.options.dryRun {
            let ids = Set(records.map(\.id))
            try workspace.session.commit { transaction, _ in
                transaction.setRotationPeriod(seconds, of: ids)
            }
            for key in keys {
                workspace.note(
                    seconds == 0
                        ? "\(key) in \(project.name) no longer has a rotation period."
                        : "\(key) in \(project.name) is due for rotation when its value is \(DurationText.text(.seconds(Int64(clamping: seconds)))) old."
                )
            }
        }
        return CommandResult(json: [
            "project": .string(project.name), "key": .string(keys[0]), "keys": .strings(keys),
            "rotateEverySeconds": seconds == 0 ? .null : .integer(Int64(clamping: seconds)),
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }

    static let fields =
        "project, key: string; keys: [string]; rotateEverySeconds: number | null; dryRun: boolean"

}

extension VaultTransaction {
    mutating func setRotationPeriod(_ seconds: UInt64, of records: Set<Identifier>) {
        for position in index.variables.indices where records.contains(index.variables[position].id)
        {
            index.variables[position].rotationSeconds = seconds
        }
    }
}
