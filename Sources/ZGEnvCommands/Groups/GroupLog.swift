internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// `log --group`: the signed changes of a group. Names and version ids, no values.
struct GroupLog {
    private struct Line {
        let at: UInt64
        let author: String
        let project: String
        let what: [String]
        let state: String
    }

    private let workspace: Workspace
    private let membership: GroupMembership
    private var lines: [Line] = []

    /// Reads the changes of this machine's copy and of the vault.
    init(_ access: GroupAccess, _ workspace: Workspace) throws {
        (self.workspace, membership) = (workspace, access.membership)
        let index = try workspace.session.index(.everything)
        let shared = try SharedProject.all(of: access.membership.group, in: index)
        let view = try access.view()
        for compartment in view.compartments {
            let project = shared.first { $0.compartment == compartment }
            let name = project.flatMap { index.project($0.project)?.name } ?? ""
            let state = view.state(of: compartment)
            let records = Dictionary(
                state.records.map { ($0.id, $0.names.first ?? "?") },
                uniquingKeysWith: { first, _ in first })
            for change in view.changes(in: compartment) {
                lines.append(
                    Line(
                        at: change.createdAt, author: membership.name(of: change.header.author),
                        project: name, what: Self.words(of: change, records, view),
                        state: Self.state(of: change, in: state)))
            }
        }
        lines.sort { ($0.at, $0.author) < ($1.at, $1.author) }
    }

    private static func state(
        of change: ReceivedChange, in state: CompartmentState
    ) -> String {
        if let reason = state.late[change.name] { return "late: \(reason.words)" }
        if let reason = state.waiting[change.name] { return "waits: \(reason.words)" }
        return ""
    }

    private static func words(
        of change: ReceivedChange, _ records: [Identifier: String], _ view: GroupView
    ) -> [String] {
        (change.operations ?? []).map { item in
            let name = item.record.map { records[$0] ?? "?" } ?? ""
            func digits(_ id: Identifier?) -> String {
                id.map { String($0.hexadecimal.prefix(8)) } ?? ""
            }
            return switch item.operation {
            case .create(let creation): "add \(creation.name) (\(creation.scope.description))"
            case .value(let value):
                "set \(name) "
                    + digits(VersionIdentity.id(author: change.header.author, seed: value.seed))
            case .choose(let version): "choose \(name) \(digits(view.versionID(of: version)))"
            case .remove: "remove \(name)"
            case .comment: "comment \(name)"
            case .reminder: "rotation period of \(name)"
            case .type(let type): "type of \(name): \(type.name)"
            case .scope(let scope): "scope of \(name): \(scope.description)"
            case .name(let new): "rename to \(new)"
            case .projectName(let name): "share \(name)"
            case .binding(let binding): "link to \(binding?.name ?? "nothing")"
            case .claim(let claim): "pushed \(claim.key)"
            case .rotation(let begins): "rotation of \(name) \(begins ? "begins" : "ends")"
            case .settle: "decision about a member who left"
            }
        }
    }

    /// - Parameter limit: How many of the newest changes to show.
    static let fields = """
        group: string
        changes: [{ at: time; author, project: string; operations: [string]; state: string | null }]
        """

    func result(limit: Int) -> CommandResult {
        let shown = lines.suffix(limit)
        var table = Table([
            .init("AT"), .init("AUTHOR"), .init("PROJECT"), .init("CHANGES", canShrink: true),
            .init("STATE"),
        ])
        for line in shown {
            table.append([
                .init(TimeText.utc(Int64(clamping: line.at)), as: .dim), .init(line.author),
                .init(line.project), .init(line.what.joined(separator: ", ")),
                .init(line.state, as: .warning),
            ])
        }
        let look = TerminalStyle(workspace.context)
        let text = table.text(width: look.width, style: look.style)
        return CommandResult(
            json: [
                "group": .string(membership.name),
                "changes": .array(
                    shown.map { line in
                        [
                            "at": .time(orNull: Int64(clamping: line.at)),
                            "author": .string(line.author), "project": .string(line.project),
                            "operations": .strings(line.what),
                            "state": .string(orNull: line.state.isEmpty ? nil : line.state),
                        ]
                    }),
            ], text: text.isEmpty ? "\(DisplayText.safe(membership.name)) has no changes.\n" : text)
    }
}

extension LateReason {
    /// A clause for people.
    var words: String {
        switch self {
        case .member: "its author was not a member"
        case .signature: "its signature is invalid"
        case .compartment: "its author had no access to the project"
        case .epoch: "it was written with keys that are no longer valid"
        case .pastEntry: "it refers to an older membership than the changes that it builds on"
        case .chain: "it does not continue what its author wrote before"
        case .role: "its author's role does not allow it"
        case .key: "it was signed with the wrong key"
        case .record: "it changes a variable that does not exist"
        case .replaces: "it replaces a change that its author had not seen"
        case .widening: "its author had no right to make a value more widely available"
        case .cut: "its author had already lost the right"
        }
    }
}

extension WaitingReason {
    /// A clause for people.
    var words: String {
        switch self {
        case .parents: "a change before it is missing"
        case .entry: "a membership entry is missing"
        case .split: "two members were shown different histories"
        }
    }
}
