import Foundation
import Glibc
import Sandbox
import TestSupport

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

    private func signalled(
        _ runner: ProgramRunner, by number: Int32,
        when isTime: @escaping @Sendable (ArraySlice<SandboxServer.SeenRequest>) -> Bool
    ) -> ProgramRunner {
        var runner = runner
        let server = server
        let before = server.requests.count
        runner.script = [
            (
                .now,
                .call { process, _ in
                    Thread.detachNewThread {
                        for _ in 0..<2_000 {
                            if isTime(server.requests.dropFirst(before)) {
                                kill(process, number)
                                return
                            }
                            usleep(5_000)
                        }
                    }
                }
            )
        ]
        return runner
    }
}
