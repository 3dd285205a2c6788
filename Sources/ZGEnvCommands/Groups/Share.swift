internal import CommandLineKit
internal import GroupPlaces
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `share`: shares a project with a group, which is created if it does not exist.
struct Share: Command {
    static let spec = CommandSpec(
        ["share"], "Share a project with a group of people or machines",
        discussion: """
            Creates the group if this vault does not belong to it yet; you are then its first \
            admin. PLACE holds the encrypted changes: the URL of a git repository, . for this \
            repository's origin, or a directory. Neither names nor values can be read there.
            """,
        arguments: [ArgumentSpec("PROJECT", .one, "The project", completion: .dynamic(.project))],
        options: [
            OptionSpec("group", value: "NAME", "The group"),
            OptionSpec("at", value: "PLACE", "Git URL or directory of a new group"),
            OptionSpec("as", value: "NAME", "Your name in a new group (default: your login name)"),
        ],
        examples: [
            .init(
                "zg-env share web --group acme --at .",
                "share web through the origin of this repository")
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        project, group: string; place?: string; created?: boolean (whether the group is new)
        sync?: {zg-env sync, groups}; dryRun: boolean
        """

    private let project: String
    private let group: String
    private let place: String?
    private let me: String?

    init(_ command: ParsedCommand) throws {
        project = command.required("PROJECT")
        guard let group = command.value("group") else {
            throw CommandError(.usage, "Name the group with --group.")
        }
        self.group = group
        (place, me) = (command.value("at"), command.value("as"))
        try GroupName.check(group)
        if let me { try GroupName.check(me) }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.values)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        guard let found = index.project(named: project) else {
            throw ProjectResolver.notFound(project, in: index)
        }
        let records = index.variables.filter { $0.project == found.id }.map(\.id)
        try SendingGate.check(Set(records), in: index, workspace.context)
        guard project != WebhookSecrets.projectName else {
            throw CommandError(.usage, "\(project) holds webhook secrets and cannot be shared.")
        }
        if let shared = try SharedProject.of(found.id, in: index) {
            let name = try GroupMembership.all(in: index).first { $0.group == shared.group }?.name
            throw CommandError(.conflict, "\(project) is already shared with \(name ?? "a group").")
        }
        let known = try GroupMembership.all(in: index).first { $0.name == group }
        let address = try address(known, workspace)
        let count = index.variables(of: found.id).count
        let plan = [
            known == nil
                ? "create the group \(group) at \(address), with you as its admin"
                : "let \(readers(known)) read \(project)",
            "publish \(count == 1 ? "1 variable" : "\(count) variables") of \(project), encrypted",
        ]
        guard try workspace.confirm(plan, "Share \(project) with \(group)?") else {
            return CommandResult(
                json: ["project": .string(project), "group": .string(group), "dryRun": true],
                text: DisplayText.lines(plan, after: "Would "))
        }
        try workspace.audit(
            AuditEntry.Outcome.givenOut, index.variables(of: found.id).map(\.name),
            project: project, place: "group \(group)", seen: index.metadata)
        let membership =
            if let known { try share(found, with: known, workspace) } else {
                try create(found, address, vault, workspace)
            }
        let report = try GroupSync.sync(try GroupAccess(membership, workspace), workspace)
        workspace.note(
            "Shared \(project) with \(group). Invite someone with: zg-env group invite NAME")
        return CommandResult(
            json: [
                "project": .string(project), "group": .string(group),
                "place": .string(address.text), "created": .bool(known == nil),
                "sync": report.json, "dryRun": false,
            ])
    }

    /// The active members who will be able to read another project, in a clause.
    private func readers(_ known: GroupMembership?) -> String {
        let names = (known?.people ?? []).filter {
            $0.isActive && $0.member != known?.member && $0.role.readsValues
                && $0.rights.limit == nil
        }.map(\.name).sorted()
        return names.isEmpty
            ? "no one else yet" : "\(names.joined(separator: ", ")) (members of \(group))"
    }

    private func address(
        _ known: GroupMembership?, _ workspace: Workspace
    ) throws -> PlaceAddress {
        if let known {
            guard me == nil else {
                throw CommandError(
                    .usage, "You already have a name in the group \(group).",
                    hint: "Leave out --as.")
            }
            guard place == nil else {
                throw CommandError(
                    .usage, "The group \(group) already has a place: \(known.place).",
                    hint: "Leave out --at.")
            }
            return try PlaceAccess.address(known.place, workspace)
        }
        guard let place else {
            throw CommandError(
                .usage, "This vault does not belong to a group \(group).",
                hint: "To create it, say where its changes are kept: --at PLACE (a git URL, . for "
                    + "this repository's origin, or a directory).")
        }
        return try PlaceAccess.address(place, workspace)
    }

    /// Creates the group and shares the project with it, in one write of the vault.
    private func create(
        _ project: VaultProject, _ address: PlaceAddress, _ vault: Vault, _ workspace: Workspace
    ) throws -> GroupMembership {
        let traits = try PlaceAccess.place(address, workspace).probe()
        if let program = traits.synchronizer {
            workspace.context.warn(
                "synchronized-place",
                "\(program) synchronizes this folder, so the group can have only one admin: you.")
        }
        let keys = try workspace.session.keys(.values)
        let now = workspace.context.now()
        let secrets = try MemberSecrets()
        let (member, compartment) = (Identifier.random(), Identifier.random())
        let user = workspace.context.user().name
        let entry = try EntryAuthor.founding(
            Admission(
                member: member, person: .random(), name: me ?? (user.isEmpty ? "founder" : user),
                rights: MemberRights(role: .admin), keys: try secrets.publicKeys()),
            compartments: [compartment], hasOneAdmin: traits.isSynchronized, createdAt: now,
            signedBy: try secrets.signingKeyPair(.authority))
        let copy = try PlaceAccess.copy(workspace)
        if let object = PlaceObject(.entry(1), entry.object) {
            _ = try copy.publish([object], to: entry.name)
        }
        let view = try GroupView(
            group: entry.name, entries: [entry.object], changes: [], member: member,
            secrets: secrets, read: { _ in nil })
        try view.keepCurrentKeys(in: secrets)
        var membership = GroupMembership(
            group: entry.name, name: group, place: address.stored, member: member,
            standing: .active, rights: MemberRights(role: .admin), createdAt: now)
        membership.heads = [entry.name]
        membership.newest = .init(name: entry.name, number: 1)
        membership.people = view.people
        let sealed = try secrets.sealed(
            for: membership.id, vault: vault.header.vaultID, with: keys)
        let final = membership
        try workspace.session.commit { transaction, news in
            news.add(AuditedNames(project: project.name, names: [group]))
            try transaction.keep(final.entry(sealed: sealed))
            try Self.keep(project.id, entry.name, compartment, now, in: &transaction)
        }
        return membership
    }

    /// Shares a project with a group that this vault belongs to.
    private func share(
        _ project: VaultProject, with known: GroupMembership, _ workspace: Workspace
    ) throws -> GroupMembership {
        try known.requireAdmin("can share a project with it")
        let access = try GroupAccess(known, workspace)
        try GroupSync.syncAndReport(access, workspace)
        try access.membership.requireAdmin("can share a project with it")
        let compartment = Identifier.random()
        try access.publishEntry(about: [project.name]) { _ in EntryDraft(firstEpochs: [compartment])
        }
        _ = try access.sync(sharing: (compartment, project.id))
        return access.membership
    }

    /// Keeps that a project is shared. What it holds is recorded by the same write.
    static func keep(
        _ project: Identifier, _ group: GroupHash, _ compartment: Identifier, _ now: UInt64,
        in transaction: inout VaultTransaction
    ) throws {
        try transaction.keep(
            SharedProject(
                project: project, group: group, compartment: compartment, isAdopted: true,
                createdAt: now
            ).entry)
        try transaction.keep(
            SharedState(compartment: compartment, group: group, createdAt: now).entry)
    }
}

/// Names of groups and people.
enum GroupName {
    /// - Throws: ``UsageError`` for a name that is empty, too long, or has characters that cannot be seen.
    static func check(_ name: String) throws {
        guard MemberName.problem(with: name) == nil, name.first?.isWhitespace == false,
            name.last?.isWhitespace == false
        else {
            throw CommandError(
                .usage,
                "A name must have 1 to 256 bytes of printable characters, without spaces at its ends."
            )
        }
    }
}
