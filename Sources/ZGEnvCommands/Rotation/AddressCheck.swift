internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// `--check-url`: an address that must answer with one status. No token is sent there, and redirects
/// are not followed.
struct AddressCheck {
    /// How often it is asked before it counts as failed: what has just gone live may need a moment.
    static let attempts = 5

    let workspace: Workspace
    let url: String
    /// The one that it must answer with.
    let status: Int

    /// Parts an address into where it goes, and path with query.
    ///
    /// - Throws: ``ExitCode/usage`` for what is none.
    static func parts(_ url: String) throws -> (origin: APIOrigin, target: String) {
        let scheme = ["https://", "http://"].first { url.hasPrefix($0) }?.count ?? 0
        let slash =
            url.dropFirst(scheme).firstIndex { "/?#".contains($0) } ?? url.endIndex
        var target = String(url[slash...].prefix { $0 != "#" })
        if !target.hasPrefix("/") { target = "/" + target }
        let isPlain = target.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isPlain, let origin = try? APIOrigin(String(url[..<slash])) else {
            throw CommandError(
                .usage, "--check-url takes https://HOST/PATH, or a path of the deployment.",
                hint: "Plain http is for this machine alone.")
        }
        return (origin, target)
    }

    /// Asks until it answers so; why it does not, else nil.
    func failure() throws -> RotationProgress.Failure? {
        let (origin, target) = try Self.parts(url)
        let turns = workspace.session.turns
        let transport = TurnTakingTransport(try workspace.context.transport(), turns)
        let waitingRoom = TurnTakingWaitingRoom(workspace.context.waitingRoom, turns)
        var last = "no answer"
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
                last = "no answer"
            }
        }
        return .init(.check, "--check-url wants status \(status) and got \(last)")
    }
}
