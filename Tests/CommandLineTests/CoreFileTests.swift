import Foundation
import TestSupport
import Testing

/// A process that is ended while secrets are in its memory leaves none of it on the disk.
@Suite("A crashing process")
struct CoreFileTests {
    /// Runs a program with all limits on core files raised, in a directory of its own.
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
    func `writes no core file, where another would`(signal: Int32) throws {
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
        // Elsewhere cores go to another place or to a program: then the limit alone is looked at.
        if pattern.first != "|", pattern.first != "/" {
            #expect(try cores(home).count == 1, "no core of another program was seen: \(pattern)")
        }
        for name in try cores(home) {
            try FileManager.default.removeItem(atPath: home.directory.path("cores/\(name)"))
        }
        // Held up by another writer, it has the passphrase and the value in its memory.
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
