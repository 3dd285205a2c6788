import Foundation
import TestSupport
import Testing

/// Stops the program, or fails the disk, at every system call that changes a file or talks to the
/// keyring. Afterwards the vault opens, old or new, `verify` passes, and the keyring's key still
/// opens it. Needs strace.
///
/// A program stopped before a call leaves what the previous call left, so stopping before each and
/// letting the last run finish covers every state in between. Some calls are taken by default, by a
/// printed seed; with ZG_ENV_PROOF=full all of them.
@Suite("A crash")
struct CrashTests {
    /// strace counts each call by itself, so each has its own loop.
    private static let fileCalls = [
        "ftruncate", "pwrite64", "write", "copy_file_range", "fsync", "fdatasync", "rename",
        "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "fchmod",
    ]

    /// A command that writes, and the test for its result.
    struct Command: CustomTestStringConvertible {
        let arguments: [String]
        var input = ""
        /// Whether it needs the keyring. Its library wakes threads with `write`, dozens of times,
        /// so these commands are not stopped at `write`: their own writes take the same path as the
        /// others'.
        var usesKeyring = false

        /// Whether the keyring has only the new file's keys afterwards.
        var replacesKeys: Bool { arguments[0] == "rekey" }

        var fileCalls: [String] {
            CrashTests.fileCalls.filter { !usesKeyring || $0 != "write" }
        }

        var testDescription: String { arguments.prefix(2).joined(separator: " ") }
    }

    private static let commands = [
        Command(arguments: ["set", "N", "-p", "web"], input: "new"),
        Command(arguments: ["import", "-", "-p", "web"], input: "N=1\nM=2\n"),
        Command(arguments: ["passwd", "--new-passphrase-file", "../other"]),
        Command(
            arguments: [
                "slot", "add", "passphrase", "--new-passphrase-file", "../other", "--kdf", "8MiB,1",
            ]),
        Command(arguments: ["slot", "add", "secret-service"], usesKeyring: true),
        Command(arguments: ["slot", "add", "file", "../key"]),
        Command(arguments: ["rekey", "--yes"], usesKeyring: true),
        Command(arguments: ["restore", "../copy.zgv", "--yes"]),
    ]

    private func traced(
        _ home: CommandHome, _ command: Command, _ calls: String, _ fault: String
    ) throws -> ProgramResult {
        var runner = home.wrapped("/usr/bin/strace") { program in
            [
                "-f", "-o", "/dev/null", "-e", "trace=\(calls)", "-e", "inject=\(calls):\(fault)",
                program,
            ]
                + command.arguments
        }
        runner.input = .text(command.input)
        if !command.usesKeyring { runner.environment["DBUS_SESSION_BUS_ADDRESS"] = nil }
        return try runner.run()
    }

    /// A home with a keyring, a copy of an older state, and the files that each run starts from.
    private func prepared() throws -> (PrivateKeyring, CommandHome, [UInt8]) {
        let keyring = try PrivateKeyring()
        let home = try CommandHome.filled(keyring)
        done(try home.run(["backup", home.directory.path("copy.zgv")]))
        try home.store(["B": "bumblebee"])
        return (keyring, home, try home.vaultBytes())
    }

    /// Expects an intact vault that the passphrase, old or new, and the keyring open.
    private func expectUsable(_ home: CommandHome, _ context: String) throws {
        let listed = try home.run(["list", "-p", "web"], unlocked: false)
        #expect(listed.status == 0, "\(context): \(listed.error)")
        var verified = try home.run(["verify", "--json"])
        if verified.status == 3 {
            verified = try home.run(["verify", "--json", "--passphrase-file", home.other])
        }
        #expect(verified.status == 0, "\(context): \(verified.error)")
        var revealed = try home.reveal("A", with: home.passphrasePath)
        if revealed.status == 3 { revealed = try home.reveal("A", with: home.other) }
        #expect(revealed.status == 0, "\(context): \(revealed.error)")
        #expect(revealed.output == "second", "\(context)")
    }

    @Test(arguments: commands)
    func `a kill at any call leaves a usable vault`(command: Command) throws {
        var (keyring, home, start) = try prepared()
        var (kills, old, new) = (0, 0, 0)
        var random = ProofRandom(3)
        let others = command.fileCalls.filter { $0 != "fsync" }
        for call in ["fsync"] + Proof.sample(others, short: 1, using: &random) {
            for number in 1...40 {
                try home.reset(to: start)
                try keyring.deleteAnchors()
                try? FileManager.default.removeItem(atPath: home.directory.path("key"))
                let result = try traced(home, command, call, "signal=KILL:when=\(number)")
                let context = "\(command.testDescription), \(call) \(number)"
                if result.status == 0 {
                    if command.replacesKeys { (keyring, home, start) = try prepared() }
                    break
                }
                #expect(result.signal == 9, "\(context): \(result.error)")
                kills += 1
                try expectUsable(home, context)
                if try home.vaultBytes() == start {
                    old += 1
                } else {
                    new += 1
                    if command.replacesKeys { (keyring, home, start) = try prepared() }
                }
            }
        }
        print("killed at \(kills) calls of \(command.testDescription): \(old) old, \(new) new")
        // The lock's two calls, the new file's fsync and rename, and the directory's fsync.
        let wanted = Proof.count(short: 1, full: 4)
        #expect(old >= wanted && new >= 1, "\(random.seedText): \(kills) kills, \(old), \(new)")
        withExtendedLifetime(keyring) {}
    }

    @Test(arguments: ["ENOSPC", "EIO"], commands)
    func `a disk fault is an error and leaves a usable vault`(
        number: String, command: Command
    ) throws {
        var (keyring, home, start) = try prepared()
        var failures = 0
        var random = ProofRandom(4)
        let calls = ["write", "fsync", "rename"].filter { command.fileCalls.contains($0) }
        for call in Proof.sample(calls, short: 1, using: &random) {
            for position in 1...3 {
                try home.reset(to: start)
                try keyring.deleteAnchors()
                try? FileManager.default.removeItem(atPath: home.directory.path("key"))
                let result = try traced(
                    home, command, call, "error=\(number):when=\(position)")
                let context = "\(command.testDescription), \(call) \(position): \(number)"
                let isNew = try home.vaultBytes() != start
                if result.status == 0 { #expect(isNew, "\(context)") }
                try expectUsable(home, context)
                if isNew, command.replacesKeys { (keyring, home, start) = try prepared() }
                // The first write of passwd goes to the process that rates the passphrase, and may fail.
                if result.status == 0, position > 1 { break }
                if result.status != 0 { failures += 1 }
            }
        }
        #expect(failures >= Proof.count(short: 1, full: 2), "\(random.seedText)")
        withExtendedLifetime(keyring) {}
    }

    @Test(arguments: [commands[4], commands[6]])
    func `a kill between keyring calls leaves a usable vault`(command: Command) throws {
        var (keyring, home, start) = try prepared()
        var kills = 0
        var random = ProofRandom(5)
        let later = Proof.sample(Array(4...200), short: 3, using: &random).sorted()
        for number in [1, 2, 3] + later {
            try home.reset(to: start)
            try keyring.deleteAnchors()
            let result = try traced(home, command, "sendmsg", "signal=KILL:when=\(number)")
            if result.status == 0 { break }
            kills += 1
            try expectUsable(home, "\(command.testDescription), message \(number)")
            if try home.vaultBytes() != start, command.replacesKeys {
                (keyring, home, start) = try prepared()
            }
        }
        #expect(kills >= 3, "\(kills) kills")
        withExtendedLifetime(keyring) {}
    }
}
