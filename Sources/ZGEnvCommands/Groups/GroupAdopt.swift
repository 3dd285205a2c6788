internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// `group adopt`: gives a project that came from a group a name of this vault.
struct GroupAdopt: Command {
    static let spec = CommandSpec(
        ["group", "adopt"], "Use a project that came from a group",
        discussion: """
            A project from a group is called PROJECT@GROUP until you adopt it under a name of \
            your own. If you have a project of that name, it is kept as "NAME (before)".
            """,
        arguments: [
            ArgumentSpec("PROJECT", .one, "The project", completion: .dynamic(.project)),
            ArgumentSpec("NAME", .optional, "The new name (default: the part before @)"),
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let project: String
    private let name: String

    init(_ command: ParsedCommand) throws {
        let project = command.required("PROJECT")
        let front = project.lastIndex(of: "@").map { String(project[..<$0]) } ?? project
        self.project = project
        name = command.argument("NAME") ?? front
        try ProjectResolver.check(name)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let keys = try workspace.session.keys(.values)
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        guard let found = index.project(named: project) else {
            throw ProjectResolver.notFound(project, in: index)
        }
        guard let shared = try SharedProject.all(in: index).first(where: { $0.project == found.id })
        else { throw CommandError(.conflict, "\(project) is not shared with a group.") }
        guard !shared.isAdopted else {
            throw CommandError(.conflict, "\(project) is already adopted.")
        }
        let before = index.project(named: name)
        let kept = before.map { _ in Self.unusedName("\(name) (before)", in: index) }
        var plan = ["rename \(project) to \(name)"]
        if let kept { plan.append("rename your own project \(name) to \(kept)") }
        guard try workspace.confirm(kept == nil ? [] : plan, "Adopt \(project) as \(name)?"),
            !workspace.options.dryRun
        else {
            return CommandResult(
                json: ["project": .string(name), "dryRun": true],
                text: plan.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        try workspace.session.update(with: keys) { transaction in
            guard let place = transaction.index.projects.firstIndex(where: { $0.id == found.id })
            else { throw ProjectResolver.notFound(project, in: transaction.index) }
            if let kept,
                let other = transaction.index.projects.firstIndex(where: { $0.name == name })
            {
                transaction.index.projects[other].name = kept
            }
            transaction.index.projects[place].name = name
            var adopted = shared
            adopted.isAdopted = true
            try transaction.keep(adopted.entry)
        }
        workspace.note(
            "Adopted \(project) as \(name). Link a directory with: zg-env link --local \(name)")
        return CommandResult(json: [
            "project": .string(name), "was": .string(project),
            "kept": kept.map { .string($0) } ?? .null, "dryRun": false,
        ])
    }

    private static func unusedName(_ name: String, in index: VaultIndex) -> String {
        var (candidate, number) = (name, 2)
        while index.project(named: candidate) != nil {
            candidate = "\(name) \(number)"
            number += 1
        }
        return candidate
    }
}
