internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// `exposure`: what somebody knows who had this vault, and whether it was replaced and is live.
struct Exposure: Command {
    static let spec = CommandSpec(
        ["exposure"], "Show which values a lost machine could read",
        discussion: """
            Use this command if a machine on which this vault was open was lost or attacked. \
            Treats every value stored before TIME as known to others, including earlier versions, \
            and checks whether these values are in use in the vault or live on Vercel. Exits with \
            0 only if none of these values is in use or live, and every variable of these projects \
            on Vercel is also in this vault. The command cannot tell whether an old value is still \
            valid: revoke it where it was issued.
            """,
        options: [
            OptionSpec(
                "since", value: "TIME",
                "When the machine was last under your control: 2026-11-20, 2026-11-20T18:00:00Z, "
                    + "or 3d for 3 days ago"
            ),
            VariableName.option(
                "except", value: "KEY", "Leave out KEY because it needs no replacement"),
        ],
        examples: [
            .init("zg-env exposure --since 2d", "list what was stored until two days ago"),
            .init(
                "zg-env exposure --since 2026-11-20 -p web --except LOG_LEVEL",
                "one project, leaving out a setting that is not secret"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        before, asOf: time; isSettled: boolean; variables: [{ \(ExposureRow.fields) }]
        unknownOnVercel: [{ \(ExposureView.Unknown.fields) }]
        """

    private let time: String
    private let exceptions: Set<String>

    init(_ command: ParsedCommand) throws {
        guard let time = command.value("since") else {
            throw CommandError(
                .usage, "--since TIME is missing.",
                hint: "Specify when the machine was last under your control, such as --since 2d.")
        }
        self.time = time
        exceptions = Set(command.values("except"))
        for key in exceptions { try VariableName.check(key) }
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let now = workspace.context.now()
        let before = try LocalTime.past(time, from: now)
        let keys = try workspace.session.keys(.values)
        let listing = try workspace.session.index(.listing)
        let wanted = try workspace.options.project.map { _ in
            try ProjectResolver(workspace).existing(in: listing)
        }
        let sights = try ExposureRow.look(at: wanted.map { [$0] } ?? listing.projects, workspace)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        let reader = try ValueReader.required(vault, index, keys)
        let found = try VaultExposure(index, reader).variables(
            storedBefore: before, in: wanted.map { [$0.id] })
        let view = try ExposureView(index, seeing: sights)
        let rows = try found.filter { !exceptions.contains($0.name) }
            .map { try ExposureRow($0, in: view) { _ in "" } }
        return result(rows, view.unknown(besides: rows), before, now, workspace)
    }

    private func result(
        _ rows: [ExposureRow], _ unknown: [ExposureView.Unknown], _ before: UInt64,
        _ now: UInt64, _ workspace: Workspace
    ) -> CommandResult {
        let left = rows.filter(\.isLeft)
        let time = TimeText.utc(Int64(clamping: before))
        var lines = ["Treated as exposed: values stored before \(time)."]
        lines += unknown.lines
        lines += ExposureRow.unrevoked(rows)
        let isSettled = left.isEmpty && unknown.isEmpty
        if isSettled { lines.append("Nothing is left to replace.") }
        let failure =
            left.isEmpty
            ? unknown.failure : ExposureRow.failure(left, accepting: "--except KEY")
        return CommandResult(
            json: [
                "before": .string(time), "asOf": .time(orNull: Int64(clamping: now)),
                "isSettled": .bool(isSettled), "variables": .array(rows.map(\.json)),
                "unknownOnVercel": .array(unknown.map(\.json)),
            ],
            text: ExposureRow.table(rows, workspace.context) + DisplayText.lines(lines),
            failure: failure)
    }
}
