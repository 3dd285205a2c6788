import CommandLineKit
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Postal

/// What the program prints for its operator.
@Suite struct CommandTests {
    private func run(_ arguments: String...) throws -> ProgramResult {
        try ProgramRunner("zg-env-postal", arguments).run()
    }

    @Test func `The descriptions of its commands have no errors`() {
        #expect(PostalTable.program.problems() == [])
    }

    @Test func `Its manual pages are next to those of zg-env, with distinct names`()
        throws
    {
        let directory = try TemporaryDirectory(named: "zg-postal")
        var names: [String: [String]] = [:]
        for program in ["zg-env", "zg-env-postal"] {
            try FileManager.default.createDirectory(
                atPath: directory.path(program), withIntermediateDirectories: false)
            let made = try ProgramRunner(
                program, ["__manual", directory.path(program)],
                environment: ["HOME": directory.path]
            ).run()
            #expect(made.status == 0, "\(made.error)")
            names[program] = try FileManager.default.contentsOfDirectory(
                atPath: directory.path(program))
        }
        let (tool, relay) = (Set(names["zg-env"] ?? []), Set(names["zg-env-postal"] ?? []))
        #expect(tool.contains("zg-env-postal-status.1") && relay.contains("zg-env-postal-status.8"))
        #expect(tool.isDisjoint(with: relay))
    }

    @Test func `Invalid arguments are refused before anything is created`() throws {
        let directory = try TemporaryDirectory(named: "zg-postal")
        let database = directory.path("postal.db")
        for arguments in [
            ["serve"], ["invite", "--account", "team_a"], ["status"],
            ["status", "--database", database, "--nats", "nats://127.0.0.1"],
            ["invite", "--database", database],
            ["invite", "--database", database, "--account", "a b"],
            ["invite", "--database", database, "--account", "a", "--expires", "31d"],
            ["invite", "--database", database, "--account", "a", "--expires", "0s"],
            ["serve", "--database", database],
            ["serve", "--database", database, "--webhook-secrets", "/", "--listen", "here"],
            ["serve", "--database", database, "--webhook-secrets", "/", "--listen", "127.0.0.1:x"],
            [
                "serve", "--database", database, "--webhook-secrets", "/", "--behind-proxy",
                "proxy",
            ],
        ] as [[String]] {
            let result = try ProgramRunner("zg-env-postal", arguments).run()
            #expect(result.status == 2, "\(arguments)")
            #expect(
                result.output.isEmpty && result.error.hasPrefix("zg-env-postal: ")
                    && result.error.hasSuffix("\n"))
        }
        #expect(!FileManager.default.fileExists(atPath: database))
        for arguments in [["status"], ["devices", "list"], ["invite", "--account", "a"]] {
            let result = try ProgramRunner(
                "zg-env-postal", arguments + ["--database", database]
            ).run()
            #expect(result.status == 4 && result.error.contains("The database does not exist"))
        }
        #expect(!FileManager.default.fileExists(atPath: database))
        let json = try run("devices", "remove", "x", "--database", database, "--json")
        #expect(json.status == 4)
        #expect(json.error.hasPrefix(#"{"error":{"code":"not_found","message":"#))
        #expect(try run("help", "serve").output.contains("--behind-proxy"))
        #expect(try run("--version").output.hasPrefix("zg-env-postal "))
    }

    @Test func `Plain HTTP is allowed off the machine only from named proxies`() throws {
        let directory = try TemporaryDirectory(named: "zg-postal")
        let common = ["serve", "--database", directory.path("p.db"), "--webhook-secrets", "/"]
        for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
            let result = try ProgramRunner("zg-env-postal", common + ["--listen", address]).run()
            #expect(result.status == 2)
            #expect(result.error.contains("--behind-proxy"))
        }
        let taken = try ProgramRunner(
            "zg-env-postal",
            common + ["--listen", "192.0.2.1:1", "--behind-proxy", "192.0.2.2"]
        ).run()
        #expect(taken.status == 1)
        #expect(taken.error.contains("192.0.2.1:1"))
    }

    @Test func `A database belongs to one relay and its owner, and other files are refused`() throws
    {
        let relay = try RelayProcess()
        try relay.start()
        let second = try relay.run(
            "serve", "--listen", "127.0.0.1:0", "--webhook-secrets", relay.directory.path)
        #expect(second.status == 5)
        #expect(second.error.contains("Another relay"))
        #expect(try relay.run("status").status == 0)
        relay.kill()
        // The lock is released even after a kill.
        try relay.start()
        #expect(relay.stop() == .exited(143))
        #expect(unsafe chmod(relay.database, 0o644) == 0)
        #expect(try relay.run("status").status == 1)
        #expect(unsafe chmod(relay.database, 0o600) == 0)
        #expect(try relay.run("status").status == 0)

        let other = try relay.directory.write("no database at all, but some text", to: "other.db")
        #expect(try run("status", "--database", other).status == 8)
        let newer = relay.database
        let changed = try ProgramRunner(
            path: "/usr/bin/python3",
            [
                "-c",
                "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); "
                    + "c.execute('PRAGMA user_version=99'); c.commit()", newer,
            ]
        ).run()
        #expect(changed.status == 0)
        let refused = try relay.run("status")
        #expect(refused.status == 1 && refused.error.contains("newer"))
        #expect(try run("status", "--database", "/nowhere/at/all").status == 4)
    }

    @Test func `systemd is notified when it serves and when it ends`() throws {
        let relay = try RelayProcess()
        let path = relay.directory.path("notify")
        let listener = try ChildListener(path)
        relay.environment["NOTIFY_SOCKET"] = path
        try relay.start()
        #expect(try listener.next().hasPrefix("READY=1\n"))
        #expect(relay.stop() == .exited(143))
        #expect(try listener.next() == "STOPPING=1")
    }
}

/// A datagram socket like systemd's, held by a small program because address structures belong to
/// different Swift modules.
private final class ChildListener {
    private let child: ChildProcess
    private let file: Int32

    init(_ path: String) throws {
        let script = """
            import socket, sys, os
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1])
            os.write(1, b"bound\\0")
            while True: os.write(1, s.recv(4096) + b"\\0")
            """
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw CheckFailure("pipe") }
        var description = ChildProcess.Description(
            "/usr/bin/python3", ["-c", script, path], environment: [:])
        description.descriptors = [1: ends[1]]
        child = try ChildProcess(description)
        close(ends[1])
        file = ends[0]
        guard try next() == "bound" else { throw CheckFailure("nobody listens") }
    }

    deinit {
        child.signal(SIGKILL)
        child.reap()
        close(file)
    }

    /// Waits for the next message and returns it.
    func next() throws -> String {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&entry, 1, 10_000) == 1, unsafe read(file, &byte, 1) == 1 {
            if byte == 0 { return String(decoding: text, as: UTF8.self) }
            text.append(byte)
        }
        throw CheckFailure("no message came")
    }
}
