import Foundation
import TestSupport
import Testing

/// Where the log cannot be written, no value is given out.
@Suite("An audit log that cannot be written")
struct AuditFaultTests {
    /// What fails, by the system call that meets the log's file.
    private static let faults = [
        "openat:error=EROFS", "openat:error=EACCES", "openat:error=EIO", "openat:error=ENOSPC",
        "write:error=ENOSPC", "write:error=EIO", "write:error=EDQUOT", "write:retval=0",
        "write:retval=17", "fcntl:error=EIO", "pread64:error=EIO", "close:error=ENOSPC",
        "close:error=EIO", "fstat:error=EIO",
    ]

    @Test(arguments: AuditHome.givers)
    func `every fault of the disk stops it before a value is given out`(
        arguments: [String]
    ) throws {
        let audit = try AuditHome()
        done(try audit.home.run(["reveal", "KEY", "-p", "web"]))
        let before = try audit.bytes()
        let path = try audit.path
        for fault in Self.faults {
            let call = fault.prefix { $0 != ":" }
            // Which call asks the kernel for a file's state is the C library's own affair.
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
    func `what is no private regular file is refused`(arguments: [String]) throws {
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

    @Test func `a lock that is held stops it too`() throws {
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

    @Test func `--json says it in its object`() throws {
        let audit = try AuditHome()
        let arguments = ["reveal", "KEY", "-p", "web", "--json", "--audit-log", "/dev/full"]
        let message = try failedAsJSON(audit.home.run(arguments), 1, "failed")
        #expect(message.contains("ZG_ENV_AUDIT_LOG"))
    }
}

extension CommandHome {
    /// Runs `zg-env` with options put before the `--` that a program follows.
    fileprivate func run(
        _ arguments: [String], _ adding: ([String]) -> [String]
    ) throws -> ProgramResult {
        let rest = arguments.firstIndex(of: "--") ?? arguments.count
        return try run(adding(Array(arguments[..<rest])) + arguments[rest...])
    }
}
