internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import Vault
internal import VercelAPI

/// `--check-url`: requests a URL that must respond with one status. Sends no token, and does not follow
/// redirects.
struct URLCheck {
    /// The number of attempts: a deployment that has just gone live may need a moment.
    static let attempts = 5

    let workspace: Workspace
    let url: String
    /// The expected HTTP status.
    let status: Int

    /// Splits a URL into its origin and its path with the query.
    ///
    /// - Throws: ``ExitCode/usage`` for an invalid URL.
    static func parts(_ url: String) throws -> (origin: APIOrigin, target: String) {
        let scheme = ["https://", "http://"].first { url.hasPrefix($0) }?.count ?? 0
        let slash =
            url.dropFirst(scheme).firstIndex { "/?#".contains($0) } ?? url.endIndex
        var target = String(url[slash...].prefix { $0 != "#" })
        if !target.hasPrefix("/") { target = "/" + target }
        let isPlain = target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isPlain, let origin = try? APIOrigin(String(url[..<slash])) else {
            throw CommandError(
                .usage, "--check-url must be https://HOST/PATH, or a path on the deployment.",
                hint: "Plain http is allowed for this machine only.")
        }
        return (origin, target)
    }

    /// Requests the URL until it responds with the status. Returns the failure, or nil.
    func failure() throws -> RotationProgress.Failure? {
        let (origin, target) = try Self.parts(url)
        let turns = workspace.session.turns
        let transport = LockReleasingTransport(try workspace.context.transport(), turns)
        let waitingRoom = LockReleasingSleeper(workspace.context.waitingRoom, turns)
        var last = "no response"
        for attempt in 0..<Self.attempts {
            if attempt > 0, !waitingRoom.wait(.seconds(Int64(attempt))) {
                throw RotationInterrupted()
            }
            let request = HTTPRequest(
                origin: origin, target: target, headers: [("User-Agent", "zg-env")],
                timeouts: HTTPTimeouts(
                    connect: .seconds(5), firstByte: .seconds(15), idle: .seconds(15),
                    total: .seconds(20)))
            do throws(TransportError) {
                let answer = try transport.send(request)
                if answer.status == status { return nil }
                last = "status \(answer.status)"
            } catch {
                if Interrupts.pending != nil { throw RotationInterrupted() }
                last = "no response"
            }
        }
        return .init(.check, "--check-url expected status \(status) but got \(last)")
    }
}
