import Foundation
import TestSupport
import Testing

/// No value is revealed while the audit log cannot be written.
@Suite("An unwritable audit log")
struct AuditFaultTests {
    /// What fails, by the system call on the log's file.
    private static let faults = [
        "openat:error=EROFS", "openat:error=EACCES", "openat:error=EIO", "openat:error=ENOSPC",
        "write:error=ENOSPC", "write:error=EIO", "write:error=EDQUOT", "write:retval=0",
        "write:retval=17", "fcntl:error=EIO", "pread64:error=EIO", "close:error=ENOSPC",
        "close:error=EIO", "fstat:error=EIO",
    ]

    @Test(arguments: AuditHome.givers)
    func `every disk fault stops the command before it reveals a value`(
        arguments: [String]
    ) throws {
        let audit = try AuditHome()
        done(try audit.home.run(["reveal", "KEY", "-p", "web"]))
        let before = try audit.bytes()
        let path = try audit.path
        for fault in Self.faults {
            let call = fault.prefix { $0 != ":" }
            // Which call reads a file's state depends on the C library.
            let calls = call == "fstat" ? "fstat,newfstatat" : String(call)
            let option = "inject=\(calls):\(fault.dropFirst(call.count + 1))"
            let runner = audit.home.wrapped("/usr/bin/strace") { program in
                ["-f", "-o", "/dev/null", "-P", path, "-e", option, program] + arguments
            }
            audit.expectNothingGiven(try runner.run(), arguments + [fault])
            if call != "close" { #expect(try audit.bytes() == before, "\(fault)") }
            try audit.replace(before)
        }
        done(try audit.home.run(arguments))
    }

    @Test(arguments: AuditHome.givers)
    func `a log that is not a private regular file is refused`(arguments: [String]) throws {
        let audit = try AuditHome()
        let directory = audit.home.directory
        try directory.write("", to: "shared", mode: 0o640)
        #expect(unsafe symlink(directory.path("target"), directory.path("link")) == 0)
        #expect(unsafe mkfifo(directory.path("fifo"), 0o600) == 0)
        for path in [
            "/dev/full", "/dev/null", directory.path("shared"), directory.path("link"),
            directory.path("fifo"), directory.path, "/proc/version", "/proc/none/log",
            directory.path("passphrase/log"),
        ] {
            audit.expectNothingGiven(
                try audit.home.run(arguments + []) { $0 + ["--audit-log", path] }, arguments)
        }
    }

    @Test func `a held lock stops the command too`() throws {
        let audit = try AuditHome()
        done(try audit.home.run(["reveal", "KEY", "-p", "web"]))
        let lock = try HeldLock(ofFile: audit.path)
        var runner = audit.home.runner(["reveal", "KEY", "-p", "web"])
        runner.timeLimit = .seconds(60)
        let result = try runner.run()
        audit.expectNothingGiven(
            result, runner.arguments.map { String(decoding: $0, as: UTF8.self) })
        #expect(result.duration > .seconds(9))
        lock.release()
        done(try runner.run())
    }

    @Test func `--json reports it in its error object`() throws {
        let audit = try AuditHome()
        let arguments = ["reveal", "KEY", "-p", "web", "--json", "--audit-log", "/dev/full"]
        let message = try failedAsJSON(audit.home.run(arguments), 1, "failed")
        #expect(message.contains("ZG_ENV_AUDIT_LOG"))
    }
}

extension CommandHome {
    /// Runs `zg-env` with options inserted before the `--` of `run`.
    fileprivate func run(
        _ arguments: [String], _ adding: ([String]) -> [String]
    ) throws -> ProgramResult {
        let rest = arguments.firstIndex(of: "--") ?? arguments.count
        return try run(adding(Array(arguments[..<rest])) + arguments[rest...])
    }
}
