internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// The sync state of the variables as last seen on Vercel, with the command that resolves each
/// difference. Uses no network.
struct StatusSync {
    private let summary: SyncSummary
    private let index: VaultIndex
    /// Records of open rotations, which only resuming or reverting the rotation resolves.
    private let rotating: Set<Identifier>
    private let production: ProductionStates
    /// Variables that were never pulled or pushed, of which Vercel has another record: a push would be
    /// refused.
    private let occupied: Set<Identifier>
    /// Whether somebody can be asked, as `pull` does for each conflict.
    private let offersQuestions: Bool

    /// - Parameters:
    ///   - listing: The decoded index.
    ///   - rotating: The open rotations.
    init(_ listing: VaultIndex, rotating: [RotationEntry], _ workspace: Workspace) throws {
        index = listing
        self.rotating = Set(
            rotating.flatMap(\.plan.members).flatMap(\.records).map(\.variable))
        var due: [Variable] = []
        // The creation times of values are not part of a listing.
        if listing.variables.contains(where: { $0.rotationSeconds > 0 }),
            let keys = try workspace.session.keysWithoutPrompt()
        {
            let whole = try workspace.session.opened().index(with: keys, extent: .currentValues)
            due = RotationDue.records(in: whole, now: workspace.context.now())
        }
        summary = SyncSummary(of: listing, rotationDue: due)
        offersQuestions = workspace.interaction.canConfirm
        occupied = try workspace.session.sightings().occupied(in: listing)
        production = ProductionStates(
            of: listing, notLive: summary.variables[.notLive] ?? [], workspace)
    }

    /// Handles `--refresh`; a network failure is only a warning.
    static func refreshIfAsked(_ workspace: Workspace) throws {
        do {
            try VercelRefresh.runIfRequested(workspace)
            try ProductionStates.refreshIfAsked(workspace)
        } catch {
            let failure = CommandError(mapping: error)
            guard failure.code == .unavailable else { throw error }
            workspace.context.warn(
                "not-refreshed", "Could not refresh from Vercel. \(failure.message)")
        }
    }

    /// The members that are null while the index is locked.
    static let unknownMembers = ["platform"] + listed.map(\.rawValue) + ["remedies"]

    /// Without `notLive`: the member of that name also lists what is not pushed.
    private static let listed = SyncSummary.Standing.allCases.filter { $0 != .notLive }

    // MARK: JSON

    static let fields = """
        platform: null | [{
            project: string; asOf: time | null; deployment: string | null (the live one)
            deployedAt: time | null
        }]
        \(listed.map(\.rawValue).joined(separator: ", ")): null | [{
            project: string; \(JSONValue.entryFields); deleted: boolean; command: string
        }]
        remedies: null | [{
            project: string; reason: \(oneOf: SyncSummary.Standing.self); variables: number
            command: string
        }]
        """

    /// `platform`, a list for each standing, and `remedies`.
    var members: [JSONValue.Member] {
        let platform = index.projects.filter { $0.binding != nil }.map { project -> JSONValue in
            [
                "project": .string(project.name),
                "asOf": .time(orNull: project.seenAt == 0 ? nil : Int64(clamping: project.seenAt)),
                "deployment": .string(orNull: project.live?.id),
                "deployedAt": .time(orNull: project.live.map { Int64(clamping: $0.createdAt) }),
            ]
        }
        return [.init("platform", .array(platform))]
            + Self.listed.map { standing in
                .init(
                    standing.rawValue,
                    .array((summary.variables[standing] ?? []).map { entry($0, standing) }))
            } + [
                .init(
                    "remedies",
                    .array(
                        // A script cannot be asked.
                        remedies.filter { $0.remedy != .choose }.map {
                            [
                                "project": .string($0.project),
                                "reason": .string($0.standing.rawValue),
                                "variables": .integer(Int64($0.count)),
                                "command": .string($0.command),
                            ]
                        }))
            ]
    }

    private func entry(_ variable: Variable, _ standing: SyncSummary.Standing) -> JSONValue {
        let remedy = remedies(for: variable, standing).first { $0 != .choose } ?? .pull
        return .object(
            [.init("project", .string(name(variable))), .init("key", .string(variable.name))]
                + variable.attributes.scope.members + [
                    .init("deleted", .bool(!variable.isLive)),
                    .init("command", .string(command(remedy, [variable]))),
                ])
    }

    // MARK: Text

    /// The lists that ``Status`` itself does not show, and the commands that resolve everything.
    var text: String {
        var text = ""
        for (standing, title) in [
            (SyncSummary.Standing.behind, "Changed on Vercel"),
            (.diverged, "Changed on both sides"), (.unreadable, "No value in the vault"),
            (.rotationDue, "Due for rotation"),
        ] {
            text += Status.lines(title, summary.variables[standing] ?? [], index)
        }
        text += production.text
        guard !remedies.isEmpty else { return text }
        text += "What to do:\n"
        for remedy in remedies where offersQuestions || remedy.remedy != .choose {
            text += "  \(DisplayText.safe(remedy.command))  (\(remedy.count) "
            text += "\(Self.words(remedy.standing))\(Self.words(remedy.remedy))"
            text +=
                "\(remedy.remedy == .redeploy ? production.remark(on: remedy.variables) : ""))\n"
        }
        return text
    }

    private static func words(_ standing: SyncSummary.Standing) -> String {
        switch standing {
        case .ahead: "not pushed"
        case .behind: "changed on Vercel"
        case .diverged: "changed on both sides"
        case .unreadable: "without a value"
        case .notLive: "not live yet"
        case .rotationDue: "due for rotation"
        }
    }

    /// The effect of the command, where there are several to choose from.
    private static func words(_ remedy: SyncSummary.Remedy) -> String {
        switch remedy {
        case .choose: ": choose a side for each, at a terminal"
        case .take: ": take Vercel's value; the vault's stays in the history"
        case .overwrite: ": overwrite Vercel's value permanently"
        case .push, .pull, .set, .redeploy, .rotate: ""
        }
    }

    // MARK: Remedies

    private struct Remedy {
        let project: String
        let standing: SyncSummary.Standing
        let remedy: SyncSummary.Remedy
        let variables: [Variable]
        let command: String
        var count: Int { variables.count }
    }

    private struct Kind: Hashable {
        let project: Identifier
        let remedies: [SyncSummary.Remedy]
    }

    private func remedies(
        for variable: Variable, _ standing: SyncSummary.Standing
    ) -> [SyncSummary.Remedy] {
        let isOccupied = standing == .ahead && occupied.contains(variable.id)
        return (isOccupied ? .diverged : standing).remedies(for: variable)
    }

    /// The remedies for each project and standing, those that lose nothing first.
    private var remedies: [Remedy] {
        SyncSummary.Standing.allCases.flatMap { standing -> [Remedy] in
            let variables = (summary.variables[standing] ?? []).filter {
                !rotating.contains($0.id)
            }
            func kind(_ variable: Variable) -> Kind {
                Kind(project: variable.project, remedies: remedies(for: variable, standing))
            }
            let groups = Dictionary(grouping: variables, by: kind)
            let order = variables.reduce(into: [Kind]()) {
                if !$0.contains(kind($1)) { $0.append(kind($1)) }
            }
            return order.flatMap { kind in
                let group = groups[kind] ?? []
                return kind.remedies.map { remedy in
                    Remedy(
                        project: name(group[0]), standing: standing, remedy: remedy,
                        variables: group, command: command(remedy, group))
                }
            }
        }
    }

    private func name(_ variable: Variable) -> String {
        index.project(variable.project)?.name ?? ""
    }

    /// Returns a command for variables of one project. A command that takes one key is for the first.
    private func command(_ remedy: SyncSummary.Remedy, _ variables: [Variable]) -> String {
        let first = variables[0]
        let place = "-p \(word: name(first))"
        let isOne = index.variables(of: first.project, named: first.name).count < 2
        let single =
            "\(word: first.name) \(place)\(isOne ? "" : first.attributes.scope.optionText)"
        return switch remedy {
        case .push: "zg-env push \(place)"
        case .pull: "zg-env pull \(place)"
        case .choose: "zg-env pull \(ConflictAdvice.words(variables.map(\.name)))\(place)"
        case .take: "zg-env pull \(ConflictAdvice.words(variables.map(\.name)))\(place) --force"
        case .overwrite:
            "zg-env push \(ConflictAdvice.words(variables.map(\.name)))\(place) --force"
        case .set: "zg-env set \(single)"
        case .redeploy: production.command(for: variables) ?? "zg-env redeploy \(place)"
        case .rotate: "zg-env rotate \(single)"
        }
    }
}
