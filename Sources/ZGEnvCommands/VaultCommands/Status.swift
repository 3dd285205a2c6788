internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

/// `status`: what is there, what is open, what is not pushed or not live.
enum Status: Command {
    static let spec = CommandSpec(
        ["status"], "Show the vault, and what is not pushed or not live yet", section: "Vault",
        discussion:
            """
            Asks for nothing and reaches no network: what cannot be known is shown as unknown. What was \
            changed while the values were locked is checked where they are open now; else it is what the \
            index says.
            """,
        exitCodes: ExitCode.ofOpening)

    static func run(_ invocation: Invocation) throws -> CommandResult {
        try StatusSync.refreshIfAsked(invocation)
        let vault = try invocation.session.opened()
        let keys = try invocation.session.indexKeysWithoutAsking()
        let index = try keys.map {
            try invocation.session.opened().index(with: $0, extent: .everything)
        }
        if let index, keys?.opensValues == true {
            try invocation.session.noteCheckpoint(of: index)
        }
        let unlocked = invocation.session.unlocked
        var json: [JSONValue.Member] = [
            .init("vault", .string(vault.path)),
            .init("format", .integer(Int64(VaultFormat.number))),
            .init("generation", .integer(Int64(clamping: vault.header.generation))),
            .init("slots", .array(vault.header.slots.map { .object($0.members) })),
            .init("index", .string(index == nil ? "locked" : "open")),
            .init("values", .string(unlocked == nil ? "locked" : "open")),
            .init("unlocked", unlocked?.json(now: invocation.context.now()) ?? .null),
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
            text += "Slot      \(slot.kindName): opens \(slot.tierText)\(cost)\n"
        }
        text += "Index     \(index == nil ? "locked" : "open")\n"
        let state = unlocked?.text(now: invocation.context.now())
        text += "Values    \(state.map { "unlocked \($0)" } ?? "locked")\n"
        if let index {
            let (members, lines) = try contents(index, invocation)
            json += members
            text += lines
            let sync = try StatusSync(index, rotating: open ?? [], invocation)
            json += sync.members
            text += sync.text
            let changes = StatusChanges(index, isChecked: keys?.opensValues ?? false)
            json += changes.members
            text += changes.text
            if let keys {
                let audit = AuditStatus(invocation.session, keys, index)
                json.append(.init("auditLog", audit.json))
                text += audit.line
            }
            for place in AnchorKeeper.Place.allCases {
                let verdict = invocation.session.anchorVerdicts[place] ?? .unavailable
                try invocation.detail("Older copy, by the \(place.name): \(verdict.text)")
            }
        } else {
            let unknown = [
                "variables", "removedVariables", "projects", "account", "project", "notPushed",
                "notLive",
                "changedWhileLocked", "changesChecked", "auditLog",
            ]
            json += (unknown + StatusSync.unknownMembers).map { .init($0, .null) }
            text += "Names and what is not pushed can be seen once the index is open.\n"
        }
        return CommandResult(json: .object(json), text: text)
    }

    /// Rotations that were cut short or need somebody. One whose entry cannot be read is for `verify`.
    private static func openRotations(_ index: VaultIndex) throws -> [RotationEntry] {
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
        return "Rotation  \(DisplayText.safe(key)) is not done. Go on with: \(command) --resume, "
            + "or take it back with: \(command) --abort\n"
    }

    private static func contents(
        _ index: VaultIndex, _ invocation: Invocation
    ) throws -> ([JSONValue.Member], String) {
        let live = index.variables.filter(\.isLive)
        let account = index.account(named: invocation.options.account)
        let project = try? ProjectResolver(invocation).existing(in: index)
        let notPushed = index.variables.filter { isPending($0, in: index) }
        let departed = Set(
            index.projects.flatMap { PendingChanges(of: $0, in: index).removed.map(\.id) })
        let notLive = index.variables.filter { variable in
            guard variable.isLive else { return departed.contains(variable.id) }
            guard let project = index.project(variable.project) else { return false }
            return SyncState.isLive(variable, in: project) == false
        }
        let removed = index.variables.count - live.count
        let members: [JSONValue.Member] = [
            .init("variables", .integer(Int64(live.count))),
            .init("removedVariables", .integer(Int64(removed))),
            .init("projects", .integer(Int64(index.projects.count))),
            .init("account", .string(orNull: account?.name)),
            .init("project", .string(orNull: project?.name)),
            .init("notPushed", .array(notPushed.map { reference($0, index) })),
            .init("notLive", .array(notLive.map { reference($0, index) })),
        ]
        var text = "Holds     \(live.count) variables in \(index.projects.count) projects"
        text += removed == 0 ? "\n" : ", and \(removed) removed\n"
        text += "Account   \(account.map { DisplayText.safe($0.name) } ?? "none")\n"
        text += "Project   \(project.map { DisplayText.safe($0.name) } ?? "none")\n"
        text += lines("Not pushed yet", notPushed, index)
        text += lines("Not live yet", notLive, index)
        return (members, text)
    }

    /// Tells whether the next push would send something; of projects that are bound.
    private static func isPending(_ variable: Variable, in index: VaultIndex) -> Bool {
        guard index.project(variable.project)?.binding != nil else { return false }
        guard variable.isLive else {
            return variable.remote != nil && !variable.isRemovedEverywhere
        }
        return [.local, .ahead, .diverged].contains(SyncState(of: variable))
    }

    private static func reference(_ variable: Variable, _ index: VaultIndex) -> JSONValue {
        [
            "project": .string(index.project(variable.project)?.name ?? ""),
            "key": .string(variable.name),
            "targets": .strings(variable.attributes.scope.targets.names),
            "customEnvironments": .strings(variable.attributes.scope.customEnvironments),
            "branch": .string(orNull: variable.attributes.scope.branch),
            "deleted": .bool(!variable.isLive),
        ]
    }

    private static func lines(_ title: String, _ variables: [Variable], _ index: VaultIndex)
        -> String
    {
        guard !variables.isEmpty else { return "" }
        var text = "\(title):\n"
        for variable in variables {
            let project = index.project(variable.project)?.name ?? ""
            text += "  \(DisplayText.safe(project))  \(DisplayText.safe(variable.name))  "
            text += DisplayText.safe(variable.attributes.scope.description)
            text += variable.isLive ? "\n" : "  (removed)\n"
        }
        return text
    }
}
