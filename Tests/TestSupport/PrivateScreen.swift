import Foundation

/// A private X server with a virtual screen and a clipboard. It ends with this object.
package final class PrivateScreen {
    /// The value of `DISPLAY`.
    package let display: String
    private let daemon: Daemon

    /// Starts a server and waits until it accepts connections.
    package init() throws {
        let number = try Self.freeNumber()
        display = ":\(number)"
        daemon = try Daemon(
            "/usr/bin/Xvfb",
            [display, "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"],
            environment: ["PATH": "/usr/bin:/bin"])
        try daemon.wait("the screen") {
            FileManager.default.fileExists(atPath: Self.socket(number))
                && FileManager.default.fileExists(atPath: Self.lock(number))
        }
    }

    deinit {
        daemon.stop()
    }

    private static func socket(_ number: Int) -> String { "/tmp/.X11-unix/X\(number)" }
    private static func lock(_ number: Int) -> String { "/tmp/.X\(number)-lock" }

    /// A free display number; if it is taken meanwhile, the start fails.
    private static func freeNumber() throws -> Int {
        for _ in 0..<100 {
            let number = Int.random(in: 1_000..<30_000)
            let isTaken = [socket(number), lock(number)].contains {
                FileManager.default.fileExists(atPath: $0)
            }
            if !isTaken { return number }
        }
        throw SystemCallError("find a number for a screen", number: EADDRINUSE)
    }
}
