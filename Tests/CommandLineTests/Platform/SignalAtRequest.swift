import Foundation
import Glibc
import Sandbox
import TestSupport

extension SandboxServer {
    /// Waits until the requests seen, without the first `passed`, meet a condition. Returns false
    /// after a minute, which is generous even for a busy machine.
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

extension SandboxHome {
    /// Returns the runner, which gets a signal once the sandbox has seen a request with this
    /// beginning.
    func signalled(
        _ runner: ProgramRunner, by number: Int32, at request: String
    ) -> ProgramRunner {
        signalled(runner, by: number) { requests in
            requests.contains { "\($0.method) \($0.path)".hasPrefix(request) }
        }
    }

    /// Returns the runner, which gets a signal after `count` more requests.
    func signalled(
        _ runner: ProgramRunner, by number: Int32, afterRequests count: Int
    ) -> ProgramRunner {
        signalled(runner, by: number) { $0.count >= count }
    }

    /// Returns the runner, which gets a signal once its requests meet a condition.
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
                        // Not after its end: the process id may belong to another then.
                        server.waits(after: before) { kill(process, 0) != 0 || isTime($0) }
                        if kill(process, 0) == 0 { kill(process, number) }
                    }
                }
            )
        ]
        return runner
    }
}
