import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("The audit log")
struct AuditLogTests {
    @Test func `lines are read back as written, in order`() throws {
        let fixture = try AuditFixture()
        var entry = AuditFixture.entry("A", "B")
        entry.project = nil
        entry.place = nil
        try fixture.log.append(entry, keys: fixture.vault.keys, recorded: nil)
        try fixture.add("C")
        var records: [AuditLog.Record] = []
        let report = try fixture.log.read(with: fixture.vault.keys, index: fixture.index()) {
            records.append($0)
        }
        #expect(records.map(\.entry) == [entry, AuditFixture.entry("C")])
        #expect(records.map(\.sequence) == [1, 2])
        #expect(records.map(\.isSealed) == [true, true])
        #expect(report.isWhole && report.isThere)
        #expect(report.entryCount == 2)
        #expect(report.end?.sequence == 2)
    }

    @Test func `the index key alone is enough to write and read`() throws {
        let fixture = try AuditFixture()
        let locked = try fixture.vault.lockedKeys
        try fixture.log.append(AuditFixture.entry("A"), keys: locked, recorded: nil)
        let report = try fixture.log.verify(with: locked, index: fixture.index())
        #expect(report.isWhole && report.entryCount == 1)
    }

    @Test func `only the user can access the file and its directory`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        for (path, mode) in [(fixture.path, 0o600), (fixture.vault.directory.path("state"), 0o700)]
        {
            var status = stat()
            #expect(unsafe stat(path, &status) == 0)
            #expect(Int(status.st_mode & 0o777) == mode)
        }
    }

    @Test func `no name or word of a line is in plain text`() throws {
        let fixture = try AuditFixture()
        try fixture.add("DATABASE_URL")
        let file = try Data(fixture.bytes())
        let decoded = try fixture.lines().reduce(into: Data()) { all, line in
            all += try #require(AuditLine(line.dropLast())).body
        }
        for word in [
            // Random bytes have no word as long as these.
            "DATABASE_URL", "reveal", "analytical-engine", "ada-lovelace", "production",
            "given out",
        ] {
            #expect(file.range(of: Data(word.utf8)) == nil)
            #expect(decoded.range(of: Data(word.utf8)) == nil)
        }
    }

    @Test func `lines have equal lengths whatever their names`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "A_NAME")
        let lengths = try fixture.lines().map(\.count)
        #expect(lengths[0] == lengths[1])
    }

    @Test func `a wrong passphrase is logged without a key and chained`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        try fixture.log.appendWrongPassphrase(time: 1_700_000_000_123, userID: 1_001)
        try fixture.add("B")
        var records: [AuditLog.Record] = []
        let report = try fixture.log.read(with: fixture.vault.keys, index: fixture.index()) {
            records.append($0)
        }
        #expect(report.isWhole)
        #expect(records.map(\.isSealed) == [true, false, true])
        #expect(records[1].entry.time == 1_700_000_000_123)
        #expect(records[1].entry.userID == 1_001)
        #expect(records[1].entry.names.isEmpty && records[1].entry.user.isEmpty)
        var lines = try fixture.lines()
        lines.remove(at: 1)
        try fixture.replace(Array(lines.joined()))
        #expect(try fixture.read().report.problems == [.damaged(line: 2)])
    }

    @Test func `lines sealed with earlier keys open, also between newer ones`() throws {
        let fixture = try AuditFixture()
        let arena = SecretArena()
        let old = VaultKeys(
            index: try RootKey.random().indexKey(epoch: 1), root: nil)
        try fixture.log.append(AuditFixture.entry("A"), keys: old, recorded: nil)
        try fixture.add("B")
        // A process that still held the old keys while they were replaced.
        try fixture.log.append(AuditFixture.entry("C"), keys: old, recorded: nil)
        try fixture.add("D")
        var index = try fixture.index()
        #expect(
            try fixture.log.verify(with: fixture.vault.keys, index: index).problems
                == [.damaged(line: 1), .damaged(line: 3)])
        index.formerLogKeys = [
            try SecretBytes.random(count: 32).withBytes { try arena.copy($0) },
            try old.index.derivedKey(for: .auditLog).withBytes { try arena.copy($0) },
        ]
        let report = try fixture.log.verify(with: fixture.vault.keys, index: index)
        #expect(report.isWhole && report.entryCount == 4)
    }

    @Test func `the log of another vault does not verify`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B")
        let other = AuditLog(path: fixture.path, vaultID: .random())
        let report = try other.verify(with: fixture.vault.keys, index: fixture.index())
        #expect(report.problems == [.damaged(line: 1), .damaged(line: 2)])
    }

    @Test func `names that do not fit are counted`() throws {
        let fixture = try AuditFixture()
        var entry = AuditFixture.entry()
        entry.names = (0..<20_000).map { "VARIABLE_\($0)" }
        entry.user = String(repeating: "é", count: 10_000)
        try fixture.log.append(entry, keys: fixture.vault.keys, recorded: nil)
        try fixture.add("next")
        var read: [AuditEntry] = []
        let report = try fixture.log.read(with: fixture.vault.keys, index: fixture.index()) {
            read.append($0.entry)
        }
        #expect(report.isWhole)
        #expect(read[0].names == Array(entry.names.prefix(read[0].names.count)))
        #expect(read[0].names.count + Int(read[0].omittedNameCount) == 20_000)
        #expect(read[0].names.count > 3_000)
        #expect(read[0].user.utf8.count == 4_096)
    }

    @Test func `twenty concurrent writers lose no line`() throws {
        let fixture = try AuditFixture()
        let (log, path) = (fixture.log, fixture.vault.path)
        // Keys cannot be shared between threads: each writer opens the vault itself.
        DispatchQueue.concurrentPerform(iterations: 20) { writer in
            do {
                let vault = try Vault(opening: path, in: PosixFileStore())
                let keys = try vault.open(
                    with: try VaultFixture.passphrase("right"), memoryLimitBytes: nil
                ).keys
                for number in 0..<50 {
                    try log.append(
                        AuditFixture.entry("\(writer)-\(number)"), keys: keys, recorded: nil)
                }
            } catch { Issue.record("\(error)") }
        }
        let (names, report) = try fixture.read()
        #expect(report.isWhole)
        #expect(names.count == 1_000)
        #expect(Set(names).count == 1_000)
    }

    @Test func `a reader sees whole lines while another process writes`() throws {
        let fixture = try AuditFixture()
        try fixture.add("first")
        let (log, path) = (fixture.log, fixture.vault.path)
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { isDone.signal() }
            do {
                let vault = try Vault(opening: path, in: PosixFileStore())
                let keys = try vault.open(
                    with: try VaultFixture.passphrase("right"), memoryLimitBytes: nil
                ).keys
                for number in 0..<300 {
                    var entry = AuditFixture.entry("\(number)")
                    entry.names += (0..<500).map { "NAME_\($0)" }
                    try log.append(entry, keys: keys, recorded: nil)
                }
            } catch { Issue.record("\(error)") }
        }
        var last = 1
        while isDone.wait(timeout: .now()) == .timedOut {
            let report = try fixture.read().report
            #expect(report.isWhole)
            #expect(report.incompleteByteCount == 0)
            #expect(report.entryCount >= last)
            last = report.entryCount
        }
        #expect(try fixture.read().report.entryCount == 301)
    }
}
