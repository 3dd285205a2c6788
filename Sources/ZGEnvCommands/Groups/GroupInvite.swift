internal import CommandLineKit
internal import GroupPlaces
internal import Groups
internal import JSON
internal import Sealing
internal import SharedProjects
internal import Vault

/// `group invite`: invites a person or a machine to a group.
struct GroupInvite: Command {
    static let spec = CommandSpec(
        ["group", "invite"], "Invite a person or a machine to a group",
        discussion: """
            Prints a one-time code and the command for the newcomer. Send the code through a \
            channel that you trust. Once they have joined, zg-env sync asks you to admit them. \
            zg-env group show lists open invites, and zg-env group remove cancels one.
            """,
        arguments: [ArgumentSpec("WHO", .one, "The name that the group sees")],
        options: [
            GroupOptions.group,
            OptionSpec(
                "role", value: "ROLE",
                "What WHO may do (default: member)",
                form: .oneOf(GroupRole.names)),
            OptionSpec(
                "project", short: "p", value: "PROJECT", "Limit WHO to a project",
                repeatable: true, completion: .dynamic(.project)),
            OptionSpec(
                "for", value: "TIME", "How long the code is valid (default: 3d)", form: .duration),
            OptionSpec(flag: "auto", "Admit WHO at the next sync without asking"),
            OptionSpec(
                flag: "my-machine", "Invite another machine of yours (default role: yours)"),
        ],
        examples: [
            .init("zg-env group invite bob", "invite bob as a member"),
            .init(
                "zg-env group invite ci --role reader --project web --auto",
                "let a CI machine read web"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        who: string; group?: string; role?: \(oneOf: GroupRole.names)
        readable: number (the values that they will be able to read)
        endsAt?: number (in milliseconds since 1970); command?: string (for the invited person)
        code?: string (a secret); dryRun: boolean
        """

    private let who: String
    private let group: String?
    private let role: GroupRole?
    private let projects: [String]
    private let lifetime: UInt64
    private let isAutomatic: Bool
    private let isMine: Bool

    init(_ command: ParsedCommand) throws {
        who = command.required("WHO")
        try GroupName.check(who)
        group = command.value("group")
        role = command.value("role").flatMap { GroupRole(name: $0) }
        projects = command.values("project")
        lifetime = UInt64((command.duration("for") ?? .seconds(259_200)).components.seconds)
        isAutomatic = command.has("auto")
        isMine = command.has("my-machine")
        guard lifetime > 0 else {
            throw CommandError(.usage, "--for must be at least 1 second.")
        }
        guard role != .admin || projects.isEmpty else {
            throw CommandError(.usage, "An admin cannot be limited to projects.")
        }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let access = try GroupAccess.open(group, workspace)
        let membership = access.membership
        try membership.requireAdmin("can invite")
        try requireUnused(membership)
        let rights = try rights(membership, workspace)
        guard !isAutomatic || rights.role != .admin else {
            throw CommandError(
                .usage, "An admin cannot be admitted automatically: leave out --auto.")
        }
        let readable = try readableCount(rights, membership, workspace)
        let plan = [
            "let \(who) join \(membership.name) as \(rights.role.name)"
                + (rights.role.readsValues
                    ? ", able to read \(DisplayText.count(readable, "value"))" : "")
                + (isAutomatic ? ", without another question" : "")
        ]
        guard try !isAutomatic || workspace.confirm(plan, "Invite \(who)?"),
            !workspace.options.dryRun
        else {
            return CommandResult(
                json: ["who": .string(who), "readable": .integer(Int64(readable)), "dryRun": true],
                text: DisplayText.lines(plan, after: "Would "))
        }
        try GroupSync.syncAndReport(access, workspace)
        try access.membership.requireAdmin("can invite")
        try requireUnused(access.membership)
        let view = try access.view()
        guard let newest = view.newest, !view.chain.isForked else {
            throw SharingError(.forked, "The membership is forked. Run zg-env sync first.")
        }
        let now = workspace.context.now()
        let code = try GroupInviteCode.random()
        let id = Identifier.random()
        let me = membership.people.first { $0.member == membership.member }
        let invite = Invite(
            id: id, group: membership.group, entryNumber: newest.number, entry: newest.name,
            author: membership.member, createdAt: now, endsAt: now + lifetime * 1_000,
            person: isMine ? me?.person : nil, name: who, rights: rights,
            isAutomatic: isAutomatic, codeKey: try code.signingKeyPair(for: id).publicKey)
        let object = try invite.signed(
            with: try access.secrets().signingKeyPair(.authority), code: code)
        _ = try access.recordingAct(about: [who, rights.role.name]) {
            try access.publish([(.invite(id), object)])
        }
        let command = "zg-env group join \(word: membership.place) --group \(word: membership.name)"
        workspace.note(
            "\(who) will be able to read \(DisplayText.count(readable, "value")). Send them this command, and the code below through a channel that you trust; it is valid for \(DurationText.text(.seconds(lifetime)))."
        )
        return CommandResult(
            json: [
                "who": .string(who), "group": .string(membership.name),
                "role": .string(rights.role.name), "readable": .integer(Int64(readable)),
                "endsAt": .integer(Int64(clamping: now + lifetime * 1_000)),
                "command": .string(command), "dryRun": false,
            ],
            text: "\(DisplayText.safe(sentence: command))\n",
            secret: NamedSecret("code", try code.text()))
    }

    /// Two members of one name could not be told apart when one of them must be removed.
    private func requireUnused(_ membership: GroupMembership) throws {
        guard membership.people.contains(where: { $0.isActive && $0.name == who }) else { return }
        throw CommandError(
            .conflict, "\(membership.name) already has a member \(who).",
            hint: "Choose another name, such as \(who)-laptop.")
    }

    private func rights(
        _ membership: GroupMembership, _ workspace: Workspace
    ) throws -> MemberRights {
        let role = self.role ?? (isMine && projects.isEmpty ? membership.rights.role : .member)
        guard !projects.isEmpty else { return MemberRights(role: role) }
        let index = try workspace.session.index(.listing)
        let shared = try SharedProject.all(of: membership.group, in: index)
        var limit: Set<Identifier> = []
        for name in projects {
            guard let project = index.project(named: name) else {
                throw ProjectResolver.notFound(name, in: index)
            }
            guard let found = shared.first(where: { $0.project == project.id }) else {
                throw CommandError(
                    .usage, "\(name) is not shared with \(membership.name).",
                    hint:
                        "Share it first: zg-env share \(word: name) --group \(word: membership.name)"
                )
            }
            limit.insert(found.compartment)
        }
        return MemberRights(role: role, limit: limit.sorted())
    }

    private func readableCount(
        _ rights: MemberRights, _ membership: GroupMembership, _ workspace: Workspace
    ) throws -> Int {
        guard rights.role.readsValues else { return 0 }
        let index = try workspace.session.index(.listing)
        return try SharedProject.all(of: membership.group, in: index)
            .filter { rights.includes($0.compartment) }
            .reduce(0) { $0 + index.variables(of: $1.project).count }
    }
}

/// Options that commands on groups share.
enum GroupOptions {
    static let group = OptionSpec(
        "group", value: "NAME", "The group; needed only if the vault belongs to several")
}
