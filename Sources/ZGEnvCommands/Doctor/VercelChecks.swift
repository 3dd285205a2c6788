internal import CommandLineKit
internal import HTTPClient
internal import Vault
internal import VercelAPI

/// Checks that Vercel's API answers, and compares the clocks. Sends no token.
struct VercelChecks {
    private let workspace: Workspace

    init(_ workspace: Workspace) {
        self.workspace = workspace
    }

    func findings() -> [Finding] {
        guard !workspace.options.offline else {
            return [Finding("api", .skipped, "Vercel was not contacted because of --offline.")]
        }
        do {
            let origin = try VercelSession.namedOrigin(workspace.options) ?? ownOrigin ?? .vercel
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

    /// The origin of the account in use, if the index is open.
    private var ownOrigin: APIOrigin? {
        guard let index = try? workspace.session.indexWithoutPrompt() else { return nil }
        return index.account(named: workspace.options.account).flatMap {
            try? APIOrigin($0.origin)
        }
    }

    /// Accepts any answer but a server error: without a token it may well be a refusal.
    static func reached(_ origin: String, status: Int) -> Finding {
        guard status < 500 else {
            return Finding(
                "api", .failed, "\(origin) returned HTTP status \(status).",
                remedy: "Try again later, and see https://www.vercel-status.com.")
        }
        return Finding("api", .ok, "\(origin) is reachable.")
    }

    static func unreachable(_ error: CommandError) -> Finding {
        Finding(
            "api", .failed, error.message,
            remedy: "Check the network and --api-url; --offline skips this check.")
    }

    static func clock(now: Int64, there: Int64?) -> Finding {
        guard let there else {
            return Finding("clock-api", .skipped, "Vercel's response has no date.")
        }
        let difference = there - now
        guard abs(difference) > ClockChecks.tolerance else {
            return Finding("clock-api", .ok, "The clock agrees with Vercel's.")
        }
        return Finding(
            "clock-api", .warning,
            "The clock is \(DurationText.words(.seconds(abs(difference)))) \(difference > 0 ? "behind" : "ahead of") Vercel's.",
            remedy: "Set the clock, for example with: timedatectl set-ntp true")
    }
}
