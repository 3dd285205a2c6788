import Foundation
import Glibc
import Sandbox
import TestSupport

extension SandboxServer {
    /// Waits until what it has seen, without the first `passed` requests, is what is waited for. False
    /// after a minute: longer than anything that is waited for, on however busy a machine.
    @discardableResult
    func waits(
        after passed: Int = 0, until isMet: (ArraySlice<SeenRequest>) -> Bool
    ) -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !isMet(requests.dropFirst(passed)) {
            guard ContinuousClock.now < end else { return false }
            usleep(2_000)
        }
        return true
    }
}

extension PlatformHome {
    /// The runner, sent a signal once the platform has seen a request that begins so.
    func signalled(
        _ runner: ProgramRunner, by number: Int32, at request: String
    ) -> ProgramRunner {
        signalled(runner, by: number) { requests in
            requests.contains { "\($0.method) \($0.path)".hasPrefix(request) }
        }
    }

    /// The runner, sent a signal once the platform has seen so many more requests.
    func signalled(
        _ runner: ProgramRunner, by number: Int32, afterRequests count: Int
    ) -> ProgramRunner {
        signalled(runner, by: number) { $0.count >= count }
    }

    /// The runner, sent a signal once what the platform has seen of it is what is waited for.
    func signalled(
        _ runner: ProgramRunner, by number: Int32,
        when isTime: @escaping @Sendable (ArraySlice<SeenRequest>) -> Bool
    ) -> ProgramRunner {
        var runner = runner
        let server = server
        let before = server.requests.count
        runner.script = [
            (
                .now,
                .call { process, _ in
                    Thread.detachNewThread {
                        // Not longer than it runs: its number may be another's then.
                        server.waits(after: before) { kill(process, 0) != 0 || isTime($0) }
                        if kill(process, 0) == 0 { kill(process, number) }
                    }
                }
            )
        ]
        return runner
    }
}
