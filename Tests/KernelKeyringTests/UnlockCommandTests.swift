import Foundation
import Glibc
import KernelKeyring
import Sealing
import TestSupport
import Testing
import Vault

/// The program, started from logins of different kinds. Each command is a separate process.
@Suite("unlock and lock")
struct UnlockCommandTests {
    /// A home with a vault whose project web has A and B.
    private let home: CommandHome

    init() throws {
        home = try CommandHome()
        try home.initialise()
        try home.store(["A": "first", "B": "second"])
    }

    private func unlock(_ home: CommandHome, _ options: String...) throws -> ProgramResult {
        try home.run(["unlock", "--json"] + options)
    }

    /// The value of A that `run` passes to its child, without any source of a passphrase.
    private func handedOver(_ home: CommandHome) throws -> ProgramResult {
        try home.run(
            ["run", "-q", "-p", "web", "--", "sh", "-c", "printf %s \"$A\""], unlocked: false)
    }

    // MARK: - Unlocked

    @Test func `while unlocked only reveal asks for the passphrase`() throws {
        let home = home
        let results = try LoginThread.run(.session) {
            func locked(_ arguments: [String], _ input: ProgramRunner.Input = .null) throws
                -> ProgramResult
            {
                try home.run(arguments, input: input, unlocked: false)
            }
            return [
                try unlock(home),
                try handedOver(home),
                try locked(["export", "-p", "web", "--format", "json"]),
                try locked(["set", "A", "-p", "web"], .text("changed")),
                try locked(
                    ["import", "-", "-p", "web", "--json"], .text("B=second\nC=third\n")),
                try locked(["list", "-p", "web", "--json"]),
                try handedOver(home),
                try locked(["reveal", "A", "-p", "web"]),
                try home.run(["reveal", "A", "-p", "web"]),
            ]
        }
        #expect(results.map(\.status) == [0, 0, 0, 0, 0, 0, 0, 3, 0], "\(results.map(\.error))")
        #expect(results[1].output == "first")
        #expect(results[2].output.contains(#""B": "second""#))
        let imported = try JSONDocument(results[4].standardOutput)
        #expect(imported["compared"] == true)
        #expect(imported["unchanged"] == ["B"])
        let listed = try JSONDocument(results[5].standardOutput)
        #expect(listed["variables"]?.elements.count == 3)
        #expect(results[6].output == "changed")
        #expect(results[7].output == "")
        #expect(results[8].output == "changed")
    }

    @Test func `status shows for whom and how long`() throws {
        let home = home
        let results = try LoginThread.run(.session) {
            [
                try home.run(["status", "--json"], unlocked: false),
                try unlock(home, "--for", "2h"),
                try home.run(["status", "--json"], unlocked: false),
                try home.run(["status"], unlocked: false),
                try home.run(["lock", "--json"], unlocked: false),
                try home.run(["status", "--json"], unlocked: false),
            ]
        }
        #expect(results.map(\.status) == [0, 0, 0, 0, 0, 0], "\(results.map(\.error))")
        let before = try JSONDocument(results[0].standardOutput)
        #expect(before["values"] == "locked")
        #expect(before["unlocked"] == .null)
        let made = try JSONDocument(results[1].standardOutput)
        #expect(made["unlocked"]?["seconds"] == 7200)
        let status = try JSONDocument(results[2].standardOutput)
        #expect(status["values"] == "open")
        #expect(status["index"] == "open")
        #expect(status["unlocked"]?["scope"] == "session")
        #expect(status["unlocked"]?["until"] == made["unlocked"]?["until"])
        #expect(results[3].output.contains("in this session"))
        #expect(try JSONDocument(results[4].standardOutput)["wasUnlocked"] == true)
        #expect(try JSONDocument(results[5].standardOutput)["values"] == "locked")
    }

    @Test func `run does not use the desktop's keyring, unlocked or locked`() throws {
        let keyring = try PrivateKeyring()
        let home = try CommandHome(keyring: keyring)
        try home.initialise()
        try home.store(["A": "first"])
        defer { withExtendedLifetime(keyring) {} }
        @Sendable func connections(_ arguments: [String]) throws -> (status: Int32?, bus: Int) {
            let trace = home.directory.path("trace")
            let options = ["-f", "-qq", "-e", "trace=connect", "-o", trace]
            var runner = home.wrapped("/usr/bin/strace") { options + [$0] + arguments }
            runner.environment["ZG_ENV_PASSPHRASE_FILE"] = nil
            let status = try runner.run().status
            let text = try String(contentsOfFile: trace, encoding: .utf8)
            return (status, text.split(separator: "\n").filter { $0.contains("AF_UNIX") }.count)
        }
        let run = ["run", "-q", "-p", "web", "--", "true"]
        let list = ["list", "-p", "web"]
        let seen = try LoginThread.run(.session) {
            let locked = [try connections(run), try connections(list)]
            // A value that set wrote with the keyring's key is unconfirmed.
            let status = try home.run(["unlock"]).status
            let unlocked = [try connections(run), try connections(list)]
            // Nor if the state directory does not know the vault any more: the cache does.
            try home.forgetAnchors()
            return (locked, status, unlocked + [try connections(run)])
        }
        #expect(seen.0.map(\.status) == [125, 0])
        // Listing does use it while locked, so the trace would show it.
        #expect(seen.0[0].bus == 0)
        #expect(seen.0[1].bus > 0)
        #expect(seen.1 == 0)
        #expect(seen.2.map(\.status) == [0, 0, 0])
        #expect(seen.2.map(\.bus) == [0, 0, 0])
    }

    // MARK: - Locked again

    @Test func `lock in another session makes run ask again`() throws {
        let home = home
        let results = try LoginThread.run(.session) {
            let made = [try unlock(home), try handedOver(home)]
            let other = try LoginThread.run(.session) {
                [
                    try handedOver(home), try home.run(["lock", "--json"], unlocked: false),
                    try home.run(["lock", "--json"], unlocked: false),
                ]
            }
            return made + other + [try handedOver(home)]
        }
        #expect(results.map(\.status) == [0, 0, 125, 0, 0, 125])
        #expect(try JSONDocument(results[3].standardOutput)["wasUnlocked"] == true)
        #expect(try JSONDocument(results[4].standardOutput)["wasUnlocked"] == false)
        #expect(results[5].error.contains("The passphrase is needed"))
    }

    @Test func `the unlock expires`() throws {
        let home = home
        let results = try LoginThread.run(.session) {
            let made = [try unlock(home, "--for", "2s"), try handedOver(home)]
            usleep(3_200_000)
            return made + [try handedOver(home)]
        }
        #expect(results.map(\.status) == [0, 0, 125])
    }

    @Test(arguments: ["0s", "15", "100000d", "-1s", "m"])
    func `an invalid time is refused`(_ time: String) throws {
        #expect(try unlock(home, "--for", time).status == 2)
    }

    // MARK: - Where there is no session

    @Test func `without a session keyring unlock reports it before asking, and accepts scope user`()
        throws
    {
        for state in [LoginThread.State.withoutSession, .revokedSession] {
            let home = home
            let results = try LoginThread.run(state) {
                [
                    try home.run(["unlock"], unlocked: false),
                    try handedOver(home),
                    try unlock(home, "--scope", "user"),
                    try handedOver(home),
                    try LoginThread.run(.session) { try handedOver(home) },
                    try home.run(["lock"], unlocked: false),
                    try handedOver(home),
                ]
            }
            #expect(results.map(\.status) == [2, 125, 0, 0, 0, 0, 125], "\(results.map(\.error))")
            #expect(results[0].error.contains("--scope user"))
            #expect(results[0].error.contains("session keyring"))
        }
    }

    @Test func `at a terminal without a session keyring unlock offers the scope that works`() throws
    {
        let home = home
        @Sendable func asked(_ answer: String, _ options: String...) throws -> ProgramResult {
            var runner = home.terminalRunner(
                ["unlock"] + options, streams: true,
                script: [
                    (.terminal("(--scope user)? [y/N]"), .line(answer)),
                    (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                ])
            runner.timeLimit = .seconds(20)
            return try runner.run()
        }
        let results = try LoginThread.run(.withoutSession) {
            [
                try asked("n"), try handedOver(home), try asked("", "--scope", "session"),
                try asked("", "--yes"), try asked("y"), try handedOver(home),
                try home.run(["lock"], unlocked: false),
            ]
        }
        #expect(
            results.map(\.status) == [2, 125, 2, 2, 0, 0, 0], "\(results.map(\.screen))")
        #expect(results[0].screen.contains("no session keyring"), "\(results[0].screen)")
        #expect(results.map(\.stepsDone) == [1, 0, 0, 0, 2, 0, 0])
        #expect(results[5].output == "first")
    }

    @Test(arguments: [ENOSYS, EPERM])
    func `without keyrings the message is clear and the passphrase works`(_ number: Int32) throws {
        let home = home
        let results = try LoginThread.run(.forbidden(number)) {
            [
                try home.run(["unlock"]), try home.run(["unlock", "--scope", "user"]),
                try home.run(["lock"]),
                try handedOver(home),
                try home.run(["run", "-q", "-p", "web", "--", "sh", "-c", "printf %s \"$A\""]),
                try home.run(["status", "--json"], unlocked: false),
            ]
        }
        #expect(results.map(\.status) == [1, 1, 1, 125, 0, 0], "\(results.map(\.error))")
        for result in results.prefix(2) {
            #expect(result.error.contains("Kernel keyrings are not available on this system"))
            #expect(result.error.contains("Enter the passphrase each time"))
        }
        #expect(results[3].error.contains("The passphrase is needed"))
        #expect(results[4].output == "first")
        #expect(try JSONDocument(results[5].standardOutput)["values"] == "locked")
    }

    @Test(
        arguments: [("error=EAGAIN", .exited(1)), ("signal=INT", .signalled(SIGINT))]
            as [(String, ChildProcess.End)])
    func `if the second process does not start or is interrupted, nothing is unlocked`(
        _ injection: String, _ end: ChildProcess.End
    ) throws {
        let home = home
        let passphrase = home.passphrasePath
        let results = try LoginThread.run(.session) {
            let runner = home.wrapped("/usr/bin/strace") { program in
                [
                    "-f", "-qq", "-o", "/dev/null", "-e", "trace=clone,clone3,vfork", "-e",
                    "inject=clone,clone3,vfork:\(injection)", program, "unlock",
                    "--passphrase-file", passphrase,
                ]
            }
            return [try runner.run(), try handedOver(home)]
        }
        #expect(results.map(\.end) == [end, .exited(125)], "\(results.map(\.error))")
        #expect(end != .exited(1) || results[0].error.contains("second process"))
        #expect(!results[0].error.contains("Unlocked"))
    }

    @Test func `lock without a vault locks all vaults of the user`() throws {
        let home = home
        let cache = UnlockCache(vault: .random(), epoch: 1)
        // Separate keyrings, so that no other test's vault is locked, nor the developer's.
        let outcome = try LoginThread.run(.withoutSession) {
            try LoginThread.useKeyrings(ofUser: 54_321)
            try Kept(scope: .user).store(in: cache)
            let before = try cache.found() != nil
            let result = try home.run(["lock", "--vault", "/nonexistent/vault.zgv"])
            return (before, result.status, result.error, try cache.found() != nil)
        }
        #expect(outcome.0)
        #expect(outcome.1 == 4)
        #expect(outcome.2.contains("All your vaults were locked."))
        #expect(!outcome.3)
    }

    // MARK: - Another file

    @Test func `an older copy and one of another history are exit code 8`() throws {
        let home = home
        let (oldest, path) = (try home.vaultBytes(), home.vaultPath)
        try home.store(["A": "other"])
        let other = try home.vaultBytes()
        @Sendable func put(_ copy: [UInt8]) throws {
            try Data(copy).write(to: URL(fileURLWithPath: path))
            // The state directory's knowledge is not the subject of this test.
            try home.forgetAnchors()
        }
        try put(oldest)
        try home.store(["A": "ours"])
        let ours = try home.vaultBytes()
        let results = try LoginThread.run(.session) { () -> [ProgramResult] in
            var results = [try unlock(home), try handedOver(home)]
            for copy in [oldest, other] {
                try put(copy)
                results.append(
                    try home.run(
                        ["run", "--json", "-p", "web", "--", "true"], unlocked: false))
                results.append(try home.run(["export", "-p", "web"], unlocked: false))
                results.append(try home.run(["set", "A", "-p", "web"], input: .text("x")))
                results.append(try unlock(home))
            }
            try put(ours)
            results.append(try handedOver(home))
            // A user who put it there confirms that by locking.
            try put(other)
            results.append(try home.run(["lock"], unlocked: false))
            results.append(try unlock(home))
            results.append(try handedOver(home))
            return results
        }
        #expect(
            results.map(\.status) == [0, 0] + [125, 8, 8, 8] + [125, 8, 8, 8] + [0, 0, 0, 0],
            "\(results.map(\.error))")
        for index in [2, 6] {
            let error = try JSONDocument(results[index].standardError)["error"]
            #expect(error?["code"] == "damaged")
        }
        #expect(results[3].error.contains("older copy"))
        #expect(results[7].error.contains("is not based on the vault that was unlocked"))
        #expect(results[10].output == "ours")
        #expect(results[13].output == "other")
    }

    @Test func `the hidden second process cannot bypass the passphrase`() throws {
        let home = home
        let results = try LoginThread.run(.session) {
            [
                try home.run(["__unlocked"]), try unlock(home),
                try home.run(["__unlocked", "--json"], unlocked: false),
                try home.run(["--help"]),
            ]
        }
        #expect(results.map(\.status) == [3, 0, 0, 0])
        #expect(results[2].output == "{\"unlocked\":true}\n")
        #expect(results[3].output.contains("unlock"))
        #expect(!results[3].output.contains("__unlocked"))
    }
}

extension IndexKey {
    /// Keys that open only the index.
    fileprivate consuming func held() -> VaultKeys { VaultKeys(index: self, root: nil) }
}
