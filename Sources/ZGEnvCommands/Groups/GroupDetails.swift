internal import CommandLineKit
internal import Groups
internal import JSON
internal import SharedProjects
internal import Vault

/// What of a group needs attention, each with its reason: contested, offered, proposed, late, waiting
/// and refused.
struct GroupDetails {
    struct Detail {
        let kind: String
        let project: String
        /// A name, or the first digits of a change.
        let subject: String
        let reason: String
        let command: String?

        var text: String {
            let place = project.isEmpty ? "" : "\(project): "
            return "\(place)\(subject) \(kind): \(reason)" + (command.map { " (\($0))" } ?? "")
        }

        var json: JSONValue {
            [
                "kind": .string(kind), "project": .string(orNull: project.isEmpty ? nil : project),
                "subject": .string(subject), "reason": .string(reason),
                "command": .string(orNull: command),
            ]
        }
    }

    private(set) var all: [Detail] = []

    /// - Parameter index: With the whole journal.
    init(
        _ membership: GroupMembership, _ shared: [SharedProject], _ index: VaultIndex,
        _ workspace: Workspace
    ) throws {
        let marks = try GroupMarks(in: index)
        for item in shared {
            guard let project = index.project(item.project) else { continue }
            for variable in index.variables where variable.project == project.id {
                guard let reason = marks.reason(of: variable),
                    let mark = marks.mark(of: variable)
                else { continue }
                all.append(
                    Detail(
                        kind: mark.rawValue, project: project.name, subject: variable.name,
                        reason: reason, command: marks.command(for: variable, in: project.name)))
            }
            if item.isAdopted, let proposal = item.proposal,
                !proposal.isSame(as: project.binding)
            {
                all.append(
                    Detail(
                        kind: "proposed", project: project.name, subject: proposal.name,
                        reason: "the group links it to this Vercel project",
                        command: "zg-env group adopt \(word: project.name) --bind"))
            }
        }
        try addChanges(membership, shared, index, workspace)
    }

    /// Adds the changes that do not count, if the values are unlocked: their reasons follow from the
    /// objects, which only the root opens.
    private mutating func addChanges(
        _ membership: GroupMembership, _ shared: [SharedProject], _ index: VaultIndex,
        _ workspace: Workspace
    ) throws {
        guard membership.standing != .invited,
            try workspace.session.keysWithoutPrompt()?.opensValues == true
        else { return }
        let view = try GroupAccess(membership, workspace).view()
        for item in shared {
            let name = index.project(item.project)?.name ?? ""
            let state = view.state(of: item.compartment)
            let origins = view.origins(in: item.compartment)
            func add(_ change: GroupHash, _ kind: String, _ reason: String) {
                let author = origins[change].map { " by \(membership.name(of: $0.author))" } ?? ""
                all.append(
                    Detail(
                        kind: kind, project: name,
                        subject: "change \(change.hexadecimal.prefix(8))\(author)", reason: reason,
                        command: nil))
            }
            for (change, reason) in state.late.sorted(by: { $0.key < $1.key }) {
                add(change, "late", reason.words)
            }
            for (change, reason) in state.waiting.sorted(by: { $0.key < $1.key }) {
                add(change, "waiting", reason.words)
            }
        }
        for (change, error) in view.refused.sorted(by: { $0.key < $1.key }) {
            all.append(
                Detail(
                    kind: "refused", project: "",
                    subject: "change \(change.hexadecimal.prefix(8))", reason: error.reason,
                    command: nil))
        }
    }
}
