internal import CommandLineKit
internal import Vault
internal import VercelAPI

/// Whether the platform's API answers, and what time it is there. No token is sent.
struct PlatformChecks {
    private let workspace: Workspace

    init(_ workspace: Workspace) {
        self.workspace = workspace
    }

    func findings() -> [Finding] {
        guard !workspace.options.offline else {
            return [Finding("api", .skipped, "The platform was left alone, because of --offline.")]
        }
        do {
            let origin = try PlatformSession.namedOrigin(workspace.options) ?? ownOrigin ?? .vercel
            let transport = try workspace.context.transport()
            let request = HTTPRequest(
                origin: origin, target: "/",
                timeouts: HTTPTimeouts(
                    connect: .seconds(3), firstByte: .seconds(3), idle: .seconds(3),
                    total: .seconds(5)))
            let answer = try transport.send(request)
            let now = Int64(workspace.context.now() / 1_000)
            let there = answer.headers[name: "date"].flatMap { HTTPDate.seconds($0) }
            return [
                Self.reached(origin.description, status: answer.status),
                Self.clock(now: now, there: there),
            ]
        } catch {
            return [Self.unreachable(CommandError(mapping: error))]
        }
    }

    /// Where the account in use belongs, if the names are open.
    private var ownOrigin: APIOrigin? {
        guard let index = try? workspace.session.indexAtHand() else { return nil }
        return index.account(named: workspace.options.account).flatMap {
            try? APIOrigin($0.origin)
        }
    }

    /// Any answer but one that says it is broken: without a token it may well be a refusal.
    static func reached(_ origin: String, status: Int) -> Finding {
        guard status < 500 else {
            return Finding(
                "api", .failed, "\(origin) answers with status \(status).",
                remedy: "Try again later, and look at the platform's status page.")
        }
        return Finding("api", .ok, "\(origin) answers.")
    }

    static func unreachable(_ error: CommandError) -> Finding {
        Finding(
            "api", .failed, error.message,
            remedy: "Look at the network and --api-url; --offline leaves this out.")
    }

    static func clock(now: Int64, there: Int64?) -> Finding {
        guard let there else {
            return Finding("clock-api", .skipped, "The platform does not say what time it is.")
        }
        let difference = there - now
        guard abs(difference) > ClockChecks.tolerance else {
            return Finding("clock-api", .ok, "The clock and Vercel's agree.")
        }
        return Finding(
            "clock-api", .warning,
            "The clock is \(DurationText.words(.seconds(abs(difference)))) \(difference > 0 ? "behind" : "ahead of") Vercel's.",
            remedy: "Set the clock, or have it set: timedatectl set-ntp true")
    }
}
