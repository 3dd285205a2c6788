import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// The memory of a push that has sent and read back its values.
@Suite("Memory of a push")
struct PushMemoryTests {
    @Test("after a push no value, token or passphrase is outside guarded memory")
    func afterPush() throws {
        let platform = try SandboxHome()
        let marker = "memory-\(UInt64.random(in: 1 << 60..<UInt64.max))"
        // The report is longer than a pipe holds: the program waits for its reader while writing
        // it.
        let names = (1000..<1700).map { "VARIABLE_\($0)" }
        let text = names.map { "\($0)=\(marker)-\($0)\n" }.joined()
        done(
            try platform.runner(
                ["import", "-", "-p", "web", "-t", "production", "--yes"], input: .text(text)
            ).run())
        let pipe = platform.home.directory.path("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let reader = unsafe open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        var runner = platform.runner(["push", "-p", "web", "--yes", "--json"])
        runner.arguments =
            ["-c", "exec \"$@\" >\(pipe)", "sh", runner.path].map { Array($0.utf8) }
            + runner.arguments
        runner.path = "/bin/sh"
        var memory: ProcessMemory?
        runner.script = [
            (
                .now,
                .call { process, _ in
                    while !Self.isWritingOutput(process) { usleep(2_000) }
                    memory = try? ProcessMemory(of: process)
                    // Lets it finish.
                    var bytes = [UInt8](repeating: 0, count: 1 << 16)
                    while Self.isThere(process) {
                        var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
                        if unsafe poll(&entry, 1, 20) == 1 {
                            _ = unsafe read(reader, &bytes, bytes.count)
                        }
                    }
                }
            )
        ]
        done(try runner.run())
        #expect(platform.stored.count { $0.value.hasPrefix(marker) } == names.count)
        let found = try #require(memory)
        // The values are still open, and text that is not secret is found elsewhere.
        #expect(found.contains(Array(marker.utf8), isGuarded: true))
        #expect(found.contains(Array("VARIABLE_1699".utf8), isGuarded: false))
        for secret in [marker, platform.token, CommandHome.passphrase] {
            #expect(!found.contains(Array(secret.utf8), isGuarded: false), "\(secret)")
        }
    }

    /// Whether the main thread is blocked in write(2) to stdout.
    private static func isWritingOutput(_ process: Int32) -> Bool {
        let call = String(decoding: SmallFile.bytes("/proc/\(process)/syscall"), as: UTF8.self)
        let words = call.split(separator: " ")
        return words.count > 1 && ["1", "64"].contains(words[0]) && words[1] == "0x1"
    }

    private static func isThere(_ process: Int32) -> Bool {
        let state = String(decoding: SmallFile.bytes("/proc/\(process)/stat"), as: UTF8.self)
        return !state.isEmpty && !state.contains(") Z ")
    }
}
