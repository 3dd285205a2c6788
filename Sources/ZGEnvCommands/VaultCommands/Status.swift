internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `status`: shows the vault, and what is not pushed or not live.
struct Status: Command {
    static let vaultUse = VaultUse(showsNamesOnly: true)
    static let spec = CommandSpec(
        ["status"], "Show vault status, and what is not pushed or not live",
        discussion:
            """
            Never asks for a passphrase, and uses the network only with --refresh.
            """,
        exitCodes: ExitCode.ofOpening)
    static let fields = """
        vault: string; format, generation: number; slots: [{zg-env slot list, slots}]
        index, values: "locked" | "open"; unlocked: null | { \(UnlockedState.fields) }
        openRotations: null | [{zg-env rotate}] (null, as all that follows, if the index is locked)
        variables, removedVariables, projects: number | null; account, project: string | null
        notPushed, notLive: null | [{ project: string; \(JSONValue.entryFields); deleted: boolean }]
        declaredMissing?: [string]; \(StatusSync.fields); \(StatusGroups.fields)
        auditLog?: null | {
            whole: boolean | null; lines: number | null; path: string | null; elsewhere: boolean
        }
        """

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        try StatusSync.refreshIfAsked(workspace)
        let vault = try workspace.session.opened()
        let keys = try workspace.session.keysWithoutPrompt()
        var index = try keys.map {
            try workspace.session.opened().index(with: $0, extent: .everything)
        }
        if var seen = index {
            try workspace.session.sightings().show(in: &seen)
            index = seen
        }
        let unlocked = workspace.session.unlocked
        var json: [JSONValue.Member] = [
            .init("vault", .string(vault.path)),
            .init("format", .integer(Int64(VaultFormat.number))),
            .init("generation", .integer(Int64(clamping: vault.header.generation))),
            .init("slots", .array(vault.header.slots.map { .object($0.members) })),
            .init("index", .string(index == nil ? "locked" : "open")),
            .init("values", .string(unlocked == nil ? "locked" : "open")),
            .init("unlocked", unlocked?.json(now: workspace.context.now()) ?? .null),
        ]
        let open = try index.map { try openRotations($0) }
        json.append(
            .init(
                "openRotations",
                open.map { open in .array(open.map { .object(RotationReport($0).members) }) }
                    ?? .null))
        var text = (open ?? []).map(Self.line).joined()
        text += "Vault     \(DisplayText.safe(vault.path)) (format \(VaultFormat.number))\n"
        for slot in vault.header.slots {
            let cost = slot.costText.isEmpty ? "" : ", \(slot.costText)"
            text += "Slot      \(slot.kind.name): unlocks \(slot.tierText)\(cost)\n"
        }
        text += "Index     \(index == nil ? "locked" : "open")\n"
        let state = unlocked?.text(now: workspace.context.now())
        text += "Values    \(state.map { "unlocked \($0)" } ?? "locked")\n"
        if let index {
            let (members, lines) = try contents(index, workspace)
            json += members
            text += lines
            let sync = try StatusSync(index, rotating: open ?? [], workspace)
            json += sync.members
            text += sync.text
            let groups = try StatusGroups(index, workspace)
            json += groups.members
            text += groups.text
            if let keys {
                let audit = AuditStatus(workspace.session, keys, index)
                json.append(.init("auditLog", audit.json))
                text += audit.line
            }
            for place in RollbackGuards.Place.allCases {
                let verdict = workspace.session.rollback.verdicts[place] ?? .unavailable
                workspace.detail("Rollback guard in the \(place.name): \(verdict.text)")
            }
        } else {
            let unknown = [
                "variables", "removedVariables", "projects", "account", "project", "notPushed",
                "notLive", "auditLog",
            ]
            json += (unknown + StatusSync.unknownMembers + StatusGroups.unknownMembers).map {
                .init($0, .null)
            }
            text +=
                "The index is locked. Unlock it to see variable names and unpushed changes: zg-env unlock\n"
        }
        return CommandResult(json: .object(json), text: text)
    }

    /// Returns unfinished rotations; none if an entry is damaged, which `verify` reports.
    private func openRotations(_ index: VaultIndex) throws -> [RotationEntry] {
        do throws(VaultError) {
            return try index.rotations().filter(\.isOpen)
        } catch {
            guard error.code == .damaged else { throw error }
            return []
        }
    }

    private static func line(_ rotation: RotationEntry) -> String {
        let key = rotation.plan.key
        let project = rotation.plan.members.first.map { " -p \(word: $0.name)" } ?? ""
        let command = "zg-env rotate \(word: key)\(project)"
        return
            "Rotation  \(DisplayText.safe(key)) is not finished. Continue with: \(command) --resume, "
            + "or revert with: \(command) --abort\n"
    }

    private func contents(
        _ index: VaultIndex, _ workspace: Workspace
    ) throws -> ([JSONValue.Member], String) {
        let live = index.variables.filter(\.isLive)
        let account = index.account(named: workspace.options.account)
        let project = try ProjectResolver(workspace).existingIfGiven(in: index)
        let notPushed = index.variables.filter {
            SyncState.isNotPushed($0, in: index.project($0.project))
        }
        let departed = Set(
            index.projects.flatMap { PendingChanges(of: $0, in: index).removed.map(\.id) })
        let notLive = index.variables.filter { variable in
            guard variable.isLive else { return departed.contains(variable.id) }
            guard let project = index.project(variable.project) else { return false }
            return SyncState.isLive(variable, in: project) == false
        }
        let removed = index.variables.count - live.count
        var members: [JSONValue.Member] = [
            .init("variables", .integer(Int64(live.count))),
            .init("removedVariables", .integer(Int64(removed))),
            .init("projects", .integer(Int64(index.projects.count))),
            .init("account", .string(orNull: account?.name)),
            .init("project", .string(orNull: project?.name)),
            .init("notPushed", .array(notPushed.map { reference($0, index) })),
            .init("notLive", .array(notLive.map { reference($0, index) })),
        ]
        var text = "Contents  \(DisplayText.count(live.count, "variable")) in "
        text += DisplayText.count(index.projects.count, "project")
        text += removed == 0 ? "\n" : ", and \(removed) removed\n"
        text += "Account   \(account.map { DisplayText.safe($0.name) } ?? "none")\n"
        text += "Project   \(project.map { DisplayText.safe($0.name) } ?? "none")\n"
        text += unlinked(index)
        if let missing = try project.flatMap({
            try MissingVariables(of: $0, in: index, targets: ["production"], workspace)
        }) {
            members.append(.init("declaredMissing", .strings(missing.names)))
            if let count = missing.count { text += "\(count) (zg-env check)\n" }
        }
        text += Self.lines("Not pushed yet", notPushed, index)
        text += Self.lines("Not live yet", notLive, index)
        return (members, text)
    }

    /// Names the projects whose variables were never sent, which no other line does.
    private func unlinked(_ index: VaultIndex) -> String {
        let names = index.projects.filter { project in
            project.binding == nil && !project.name.hasPrefix("@")
                && !index.variables(of: project.id).isEmpty
        }.map(\.name).sorted()
        guard let first = names.first else { return "" }
        let others = names.count > 3 ? " and \(names.count - 3) more" : ""
        return "Only in this vault: \(DisplayText.safe(names.prefix(3).joined(separator: ", ")))"
            + "\(others) (send with: zg-env push -p \(word: first))\n"
    }

    private func reference(_ variable: Variable, _ index: VaultIndex) -> JSONValue {
        .object(
            [
                .init("project", .string(index.project(variable.project)?.name ?? "")),
                .init("key", .string(variable.name)),
            ] + variable.attributes.scope.members + [.init("deleted", .bool(!variable.isLive))])
    }

    /// The most variables of a list in the text.
    private static let mostLines = 10

    /// Returns the heading and the variables, sorted by project and name; nothing without any.
    static func lines(_ title: String, _ variables: [Variable], _ index: VaultIndex)
        -> String
    {
        guard !variables.isEmpty else { return "" }
        var text = "\(title):\n"
        let sorted = variables.map { ($0, index.project($0.project)?.name ?? "") }.sorted {
            ($0.1, $0.0.name, $0.0.attributes.scope.description)
                < ($1.1, $1.0.name, $1.0.attributes.scope.description)
        }
        for (variable, project) in sorted.prefix(mostLines) {
            text += "  \(DisplayText.safe(project))  \(DisplayText.safe(variable.name))  "
            text += DisplayText.safe(variable.attributes.scope.description)
            text += variable.isLive ? "\n" : "  (removed)\n"
        }
        let others = sorted.count - mostLines
        if others > 0 { text += "  and \(others) more (all of them: zg-env status --json)\n" }
        return text
    }
}
