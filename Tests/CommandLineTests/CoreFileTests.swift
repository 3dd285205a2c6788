import Foundation
import TestSupport
import Testing

/// A process that crashes with secrets in memory writes none of them to disk.
@Suite("A crashing process")
struct CoreFileTests {
    /// Runs a program in its own directory with all limits on core files raised.
    private func runner(
        _ home: CommandHome, _ arguments: [String], input: ProgramRunner.Input
    ) throws -> ProgramRunner {
        var runner = home.wrapped("/bin/sh") { program in
            ["-c", "ulimit -c unlimited && exec \"$@\"", "sh"]
                + (arguments[0] == "sleep" ? arguments : [program] + arguments)
        }
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
        runner.input = input
        runner.workingDirectory = try home.directory.makeDirectory("cores")
        return runner
    }

    private func cores(_ home: CommandHome) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home.directory.path("cores"))
    }

    @Test(arguments: [SIGABRT, SIGSEGV, SIGQUIT])
    func `zg-env writes no core file where another program does`(signal: Int32) throws {
        let home = try CommandHome.initialised()
        var other = try runner(home, ["sleep", "20"], input: .null)
        other.script = [
            (
                .now,
                .call { process, _ in
                    usleep(300_000)
                    kill(process, signal)
                }
            )
        ]
        #expect(try other.run().signal == signal)
        let pattern = String(
            decoding: SmallFile.bytes("/proc/sys/kernel/core_pattern"), as: UTF8.self)
        // Elsewhere core dumps go to another place or to a program; then only the limit is checked.
        if pattern.first != "|", pattern.first != "/" {
            #expect(try cores(home).count == 1, "no core file of another program: \(pattern)")
        }
        for name in try cores(home) {
            try FileManager.default.removeItem(atPath: home.directory.path("cores/\(name)"))
        }
        // Blocked by another writer, it has the passphrase and the value in memory.
        let lock = try HeldLock(of: home)
        var held = try runner(home, ["set", "KEY", "-p", "web"], input: .text("a value"))
        var limits = ""
        held.script = [
            (
                .now,
                .call { process, _ in
                    lock.awaitWaiter(process)
                    limits = String(
                        decoding: SmallFile.bytes("/proc/\(process)/limits"), as: UTF8.self)
                    kill(process, signal)
                }
            )
        ]
        let result = try held.run()
        lock.release()
        #expect(
            result.signal == signal || result.status == 128 + signal,
            "\(result.end) \(result.error)")
        #expect(try cores(home) == [])
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        let words = try #require(line).split(separator: " ").map(String.init)
        #expect(words.dropFirst(4).first == "0", "\(words)")
    }
}
