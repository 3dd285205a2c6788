internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import SharedProjects
internal import Vault

/// A variable whose value somebody knows, with what is left to do about it.
struct ExposureRow {
    let variable: ExposedVariable
    let project: String
    /// As of the look at Vercel that preceded; nil for a project that this vault does not have.
    let standing: VercelStanding?
    /// The other variables with one of the values.
    let copies: [String]
    /// Who decided that it needs no replacement.
    let acceptedBy: String?
    /// When the value in use was stored, and how; nil unless it is another one.
    let replacement: Replacement?

    /// How a value was replaced.
    struct Replacement {
        /// In milliseconds since 1970.
        let time: UInt64
        /// The rotation that did it, with its proof; nil for another command.
        let rotation: (id: Identifier, proof: RotationProof)?

        init?(_ variable: ExposedVariable, in index: VaultIndex) throws {
            guard variable.standing == .replaced, let id = variable.variable,
                let version = index.currentVersions[id]
            else { return nil }
            time = version.createdAt
            rotation = try index.rotations().lazy.filter { $0.progress.outcome == .done }
                .compactMap { rotation in
                    rotation.plan.members.firstIndex { member in
                        member.records.contains {
                            $0.variable == id && $0.newVersion == version.version
                        }
                    }.map { (rotation.id, rotation.proof(of: $0)) }
                }.first
        }
    }

    /// Whether a value, a copy, or what is live has to be replaced.
    let isLeft: Bool

    init(
        _ variable: ExposedVariable, in view: ExposureView, name: (Identifier) -> String
    ) throws {
        self.variable = variable
        replacement = try Replacement(variable, in: view.index)
        project = view.project(variable.project)?.name ?? "?"
        standing = view.standing(of: variable)
        copies = variable.copies.compactMap { id in
            view.variable(id).map { copy in
                "\(copy.name) in \(view.project(copy.project)?.name ?? "?")"
            }
        }.sorted()
        acceptedBy = variable.acceptance.map { name($0.author) }
        isLeft =
            variable.isLeft
            || (variable.acceptance == nil && standing?.mayHaveOlderValue == true)
    }

    /// What became of the value, for people.
    var state: String {
        if let acceptance = variable.acceptance, let acceptedBy {
            return "accepted by \(acceptedBy): \(acceptance.reason)"
        }
        var parts: [String] = []
        switch variable.standing {
        case .known: parts.append("not replaced")
        case .contested: parts.append("contested")
        case .unreadable: parts.append("cannot be compared")
        case .removed: parts.append("removed")
        case .replaced: parts.append("replaced")
        }
        if replacement?.rotation != nil { parts.append("by a rotation") }
        if [.replaced, .removed].contains(variable.standing), let words { parts.append(words) }
        if !copies.isEmpty {
            parts.append("the same value is in \(copies.joined(separator: ", "))")
        }
        return parts.joined(separator: ", ")
    }

    private var words: String? {
        switch standing {
        case nil, .absent: nil
        case .notPushed: "not pushed to Vercel"
        case .changed: "changed on Vercel"
        case .foreign: "Vercel has a value that is not from this vault"
        case .notLive: variable.standing == .removed ? "still live" : "not live"
        case .unknown: "unknown whether it is live"
        case .live: "live"
        case .pushed: "on Vercel"
        }
    }

    static let fields = """
        key, project, scope, id: string; versions: number (the exposed ones); since: time
        standing: \(oneOf: ExposedVariable.Standing.self); state: string (in words)
        replacedAt: time | null; rotation: string | null; proof: \(oneOf: RotationProof.self) | null
        vercel: \(oneOf: VercelStanding.self) | null; notRevoked: number
        copies: [string] (other variables with one of the values)
        isLeft: boolean (whether it is to be replaced); acceptedBy, reason: string | null
        """

    var json: JSONValue {
        [
            "key": .string(variable.name), "project": .string(project),
            "scope": .string(variable.scope.description), "id": .string(variable.id.hexadecimal),
            "versions": .integer(Int64(variable.versionCount)),
            "since": .time(orNull: Int64(clamping: variable.since)),
            "standing": .string(variable.standing.rawValue), "state": .string(state),
            "replacedAt": .time(orNull: replacement.map { Int64(clamping: $0.time) }),
            "rotation": .string(orNull: replacement?.rotation?.id.hexadecimal),
            "proof": .string(orNull: replacement?.rotation?.proof.rawValue),
            "vercel": .string(orNull: standing?.rawValue),
            "notRevoked": .integer(Int64(variable.unrevokedCount)),
            "copies": .strings(copies), "isLeft": .bool(isLeft),
            "acceptedBy": .string(orNull: acceptedBy),
            "reason": .string(orNull: variable.acceptance?.reason),
        ]
    }

    // MARK: All rows

    /// Brings the vault's view of projects on Vercel up to date.
    ///
    /// - Returns: What Vercel has now, by project. What cannot be reached is unknown, so it is left.
    static func look(
        at projects: [VaultProject], _ workspace: Workspace
    ) throws -> [Identifier: VercelComparison.Sight] {
        let bound = projects.filter { $0.binding != nil }
        guard !bound.isEmpty else { return [:] }
        if workspace.options.dryRun {
            workspace.context.warn("not-refreshed", "\(unseen) --dry-run does not ask Vercel.")
            return [:]
        }
        do { return try VercelRefresh.sights(of: bound, workspace) } catch {
            let failure = CommandError(mapping: error)
            guard [.unavailable, .unauthorized].contains(failure.code) else { throw error }
            workspace.context.warn("not-refreshed", "\(unseen) \(failure.message)")
            return [:]
        }
    }

    private static let unseen = "It is not known which values are live."

    /// A line about old values that may still be valid, if there are any.
    static func unrevoked(_ rows: [ExposureRow]) -> [String] {
        let count = rows.reduce(0) { $0 + $1.variable.unrevokedCount }
        if count == 0 { return [] }
        return [
            "\(DisplayText.count(count, "old value")) may still be valid: zg-env did not revoke \(count == 1 ? "it" : "them")."
        ]
    }

    /// - Parameter accepting: What accepts a variable that needs no replacement.
    static func failure(_ left: [ExposureRow], accepting: String) -> CommandError {
        CommandError(
            .failed,
            "\(left.count == 1 ? "1 variable is" : "\(left.count) variables are") left to replace.",
            hint:
                "Replace each with zg-env rotate, or with set --push --redeploy. Accept one with: "
                + accepting)
    }

    /// The rows as a table.
    static func table(_ rows: [ExposureRow], _ context: Context) -> String {
        var table = Table([
            .init("KEY", canShrink: true), .init("PROJECT", canShrink: true),
            .init("TARGETS", canShrink: true), .init("KNOWN", trailing: true),
            .init("STATE", canShrink: true),
        ])
        for row in rows {
            table.append([
                .init(row.variable.name), .init(row.project),
                .init(row.variable.scope.description),
                .init(DisplayText.count(row.variable.versionCount, "value")),
                .init(row.state, as: row.isLeft ? .warning : .plain),
            ])
        }
        return TerminalStyle(context).text(table)
    }
}
