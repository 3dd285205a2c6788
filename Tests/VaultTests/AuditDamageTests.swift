import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("The audit log: changed, cut, torn")
struct AuditDamageTests {
    @Test func `every flipped bit is found`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        try fixture.log.appendWrongPassphrase(time: 1, userID: 2)
        try fixture.add("B")
        let bytes = try fixture.bytes()
        let index = try fixture.index(recorded: fixture.read().report.end)
        for offset in bytes.indices {
            for bit in [0, 2, 5, 7] as [UInt8] {
                var changed = bytes
                changed[offset] ^= 1 << bit
                try fixture.replace(changed)
                let report = try fixture.log.verify(with: fixture.vault.keys, index: index)
                #expect(!report.isWhole, "byte \(offset), bit \(bit)")
            }
        }
    }

    @Test func `only the changed line is lost`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B", "C", "D")
        let lines = try fixture.lines()
        for offset in lines[1].indices.dropLast() {
            var changed = lines
            changed[1][offset] ^= 1
            try fixture.replace(Array(changed.joined()))
            let (names, report) = try fixture.read()
            // The next line's chain value covers its last bytes, so it is lost too.
            #expect(names == ["A", "C", "D"] || names == ["A", "D"], "byte \(offset)")
            #expect(report.problems.first == .damaged(line: 2), "byte \(offset)")
            #expect(report.problems.count == 4 - names.count, "byte \(offset)")
        }
    }

    /// Lines are read in batches, half of each by another thread.
    @Test func `a damaged line is found wherever a batch is divided`() throws {
        let fixture = try AuditFixture()
        let count = 2_048 + 300
        for number in 0..<count { try fixture.add("N\(number)") }
        let lines = try fixture.lines()
        let names = (0..<count).map { "N\($0)" }
        let (read, report) = try fixture.read()
        #expect(read == names && report.isWhole && report.entryCount == count)
        for place in [0, 1, 1_022, 1_023, 1_024, 1_025, 2_047, 2_048, 2_197, 2_198, count - 1] {
            var changed = lines
            // A letter of the nonce.
            changed[place][20] = changed[place][20] == 0x41 ? 0x42 : 0x41
            try fixture.replace(Array(changed.joined()))
            var found = try fixture.read()
            #expect(found.names == names.filter { $0 != "N\(place)" }, "\(place)")
            #expect(found.report.problems == [.damaged(line: place + 1)], "\(place)")
            // Two lines that changed places: neither follows the line before it.
            guard place + 1 < count else { continue }
            changed = lines
            changed.swapAt(place, place + 1)
            try fixture.replace(Array(changed.joined()))
            found = try fixture.read()
            #expect(!found.report.isWhole && found.names.count >= count - 3, "\(place)")
        }
    }

    @Test func `a log cut to any length is detected back to the last write of the vault`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B", "C")
        let bytes = try fixture.bytes()
        let recorded = try fixture.read().report.end
        try fixture.add("D")
        #expect(try fixture.read(recorded: recorded).report.isWhole)
        let ends = try fixture.lines().reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
        for length in bytes.indices {
            try fixture.replace(Array(bytes[..<length]))
            let whole = ends.filter { $0 <= length }.count - 1
            let (names, report) = try fixture.read(recorded: recorded)
            #expect(names == Array(["A", "B", "C"].prefix(whole)), "\(length)")
            #expect(report.problems == [.cut(UInt64(whole) + 1...3)], "\(length)")
            #expect(report.incompleteByteCount == length - ends[whole], "\(length)")
            // Lines written after the last write of the vault leave no trace.
            let unknown = try fixture.read().report
            #expect(unknown.isWhole && unknown.entryCount == whole, "\(length)")
        }
    }

    @Test func `the next line replaces a torn last one, which is reported as incomplete`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B")
        let lines = try fixture.lines()
        for length in 1..<lines[1].count {
            for zeros in [0, 1, 700] {
                try fixture.replace(
                    lines[0] + lines[1].prefix(length) + [UInt8](repeating: 0, count: zeros))
                let torn = try fixture.read().report
                #expect(torn.isWhole && torn.incompleteByteCount == length + zeros)
                try fixture.add("C")
                let (names, report) = try fixture.read()
                #expect(names == ["A", "C"])
                #expect(report.isWhole && report.incompleteByteCount == 0)
                #expect(report.end?.sequence == 2)
            }
        }
    }

    @Test(arguments: [
        "x", "S 2", "S 2 9999999 ", "S 02 ", "S 0 184 ", "S 2 184 A*", "S 2 3 AAAA",
        "S 99999999999999999999 1 A", "S 2  ", "P 2 12 ", "\u{0}x",
    ])
    func `trailing bytes that are not the start of a line stay and are damage`(garbage: String)
        throws
    {
        let fixture = try AuditFixture()
        try fixture.add("A")
        let whole = try fixture.bytes()
        try fixture.replace(whole + Array(garbage.utf8))
        let isBeginning = garbage == "S 2"
        let before = try fixture.read().report
        #expect(before.isWhole == isBeginning)
        try fixture.add("B", "C")
        let (names, report) = try fixture.read()
        #expect(names == ["A", "B", "C"])
        #expect(report.problems == (isBeginning ? [] : [.damaged(line: 2)]))
    }

    @Test func `reordered, repeated and missing lines are detected`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B", "C", "D")
        let lines = try fixture.lines()
        for order in [
            [1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2], [0, 0, 1, 2, 3], [0, 1, 2, 3, 1],
            [0, 1, 1, 2, 3], [1, 2, 3], [0, 2, 3], [0, 1, 3], [3], [0, 1, 2, 3, 3],
        ] {
            try fixture.replace(order.flatMap { lines[$0] })
            let report = try fixture.read().report
            #expect(!report.isWhole, "\(order)")
        }
    }

    @Test func `a line sealed without the key is detected`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        let end = try #require(try fixture.read().report.end)
        let forged = AuditLine.sealing(
            AuditFixture.entry("forged"), sequence: 2, previousTag: end.tag,
            vault: fixture.vault.vaultID, key: try SecretBytes.random(count: 32))
        try fixture.replace(try fixture.bytes() + forged.text)
        #expect(try fixture.read().report.problems == [.damaged(line: 2)])
        // The writer does not open it; the line after it is chained to it and still verifies.
        try fixture.add("B")
        let (names, report) = try fixture.read()
        #expect(names == ["A", "B"])
        #expect(report.problems == [.damaged(line: 2)])
    }

    @Test func `after a cut a new chain begins, and the gap stays visible`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B", "C", "D")
        let recorded = try fixture.read().report.end
        for kept in 0..<4 {
            try fixture.replace(Array(try fixture.lines().prefix(kept).joined()))
            let position = try fixture.log.position(following: recorded)
            #expect(position == nil)
            try fixture.add("E", recorded: recorded)
            try fixture.add("F", recorded: recorded)
            let (names, report) = try fixture.read(recorded: recorded)
            #expect(names == Array(["A", "B", "C", "D"].prefix(kept)) + ["E", "F"])
            #expect(report.problems == [.missing(UInt64(kept) + 1...4)])
            #expect(report.end?.sequence == 6)
            // The next write of the vault must not forget it.
            #expect(try fixture.log.position(following: recorded) == nil)
            try fixture.replace([])
            try fixture.add("A", "B", "C", "D")
        }
    }

    @Test func `lines that replace cut ones are detected`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B", "C")
        let recorded = try fixture.read().report.end
        try fixture.replace(Array(try fixture.lines().prefix(1).joined()))
        // Anyone can make these.
        try fixture.log.appendWrongPassphrase(time: 1, userID: 0)
        try fixture.log.appendWrongPassphrase(time: 2, userID: 0)
        #expect(try fixture.read(recorded: recorded).report.problems == [.replaced(3)])
        try fixture.add("D", recorded: recorded)
        #expect(try fixture.read(recorded: recorded).report.problems == [.replaced(3)])
        #expect(try fixture.log.position(following: recorded) == nil)
    }

    @Test func `an accepted problem is not reported again`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B", "C")
        var bytes = try fixture.bytes()
        bytes[40] ^= 1
        try fixture.replace(bytes)
        var acceptance = AuditFixture.entry()
        acceptance.kind = .acceptance
        try fixture.log.append(acceptance, keys: fixture.vault.keys, recorded: nil)
        let report = try fixture.read().report
        #expect(report.isWhole)
        #expect(report.acceptedProblemCount > 0)
    }

    @Test func `writes of the vault record where the log ends`() throws {
        let fixture = try AuditFixture()
        func write(_ value: String) throws -> AuditLog.Position? {
            let vault = fixture.vault
            let known = try vault.open().index(with: vault.keys, extent: .listing).metadata.audit
            let end = try fixture.log.position(following: known)
            try Vault.update(
                vault.path, in: vault.store, keys: vault.keys, vaultID: vault.vaultID
            ) { transaction in
                transaction.auditPosition = end
                let position = transaction.positionOfVariable("KEY")
                _ = try Array(value.utf8).withBytes {
                    try transaction.store($0, forVariableAt: position, at: 1)
                }
            }
            return try vault.open().index(with: vault.keys, extent: .listing).metadata.audit
        }
        #expect(try write("1") == nil)
        try fixture.add("A", "B")
        let second = try write("2")
        #expect(second?.sequence == 2)
        try fixture.add("C")
        #expect(try write("3")?.sequence == 3)
        // Cut: the record stays, so the cut is detected.
        let third = try fixture.read().report.end
        try fixture.replace(Array(try fixture.lines().prefix(1).joined()))
        #expect(try write("4") == third)
        try Vault.update(
            fixture.vault.path, in: fixture.vault.store, keys: fixture.vault.keys,
            vaultID: fixture.vault.vaultID
        ) { $0.acceptAuditLog(endingAt: second) }
        let now = try fixture.vault.open().index(with: fixture.vault.keys, extent: .listing)
        #expect(now.metadata.audit == second)
    }

    @Test func `a new end of the log alone does not cause a write of the vault`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        let end = try fixture.log.position(following: nil)
        let generation = try fixture.vault.open().header.generation
        try Vault.update(
            fixture.vault.path, in: fixture.vault.store, keys: fixture.vault.keys,
            vaultID: fixture.vault.vaultID
        ) { $0.auditPosition = end }
        #expect(try fixture.vault.open().header.generation == generation)
    }

    @Test(arguments: ["A secret passphrase\n", "notes", "ZGENV vault\n\n\n"])
    func `nothing is added to a file that is no log`(text: String) throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        try fixture.replace(Array(text.utf8))
        let error = #expect(throws: VaultError.self) { try fixture.add("A") }
        #expect(error?.code == .auditLog)
        #expect(try fixture.bytes() == Array(text.utf8))
    }

    @Test func `random bytes are read without a trap`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A", "B")
        let lines = try fixture.lines()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<400 {
            var bytes = Array(lines.joined())
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let at = Int.random(in: 0...bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes.insert(contentsOf: lines[1], at: at)
                case 1: bytes.insert(contentsOf: "S P 1 29 \n".utf8, at: at)
                case 2: bytes.removeLast(bytes.count - at)
                default: bytes.insert(.random(in: 0...255, using: &generator), at: at)
                }
            }
            try fixture.replace(bytes)
            let known = try fixture.read().names
            do {
                try fixture.add("C")
                #expect(try fixture.read().names.last == "C")
            } catch let error as VaultError {
                // Without a line of a log it is taken for another file.
                #expect(error.code == .auditLog && known.isEmpty)
                #expect(try fixture.bytes() == bytes)
            }
        }
    }

    @Test(arguments: [1, 200_000, 400_000, 3_000_000])
    func `a line over the maximum length is skipped`(count: Int) throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        let first = try fixture.bytes()
        let long = [UInt8](repeating: 0x41, count: count)
        try fixture.replace(first + long + [0x0A])
        try fixture.add("B")
        #expect(try fixture.read().names == ["A", "B"])
        #expect(try fixture.read().report.problems == [.damaged(line: 2)])
        try fixture.replace(first + long)
        #expect(try fixture.read().report.problems == [.damaged(line: 2)])
        try fixture.add("B")
        #expect(try fixture.read().names == ["A", "B"])
    }

    @Test func `a log whose numbers are used up is refused`() throws {
        let fixture = try AuditFixture()
        let line = AuditLine(
            kind: .sealed, sequence: AuditLine.sequenceLimit,
            body: [UInt8](repeating: 0, count: 40))
        try FileManager.default.createDirectory(
            atPath: fixture.vault.directory.path("state"), withIntermediateDirectories: true)
        try fixture.replace(line.text)
        #expect(code { try fixture.add("A") } == .auditLog)
        #expect(
            code {
                try fixture.add("A", recorded: .init(sequence: .max, tag: line.tag))
            } == .auditLog)
    }

    @Test func `a file that is not a regular file of the user is refused`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        let path = fixture.path
        #expect(unsafe chmod(path, 0o640) == 0)
        #expect(code { try fixture.add("B") } == .auditLog)
        #expect(code { _ = try fixture.read() } == .auditLog)
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe symlink("elsewhere", path) == 0)
        #expect(code { try fixture.add("B") } == .auditLog)
        #expect(unsafe unlink(path) == 0)
        #expect(unsafe mkfifo(path, 0o600) == 0)
        #expect(code { try fixture.add("B") } == .auditLog)
        for device in ["/dev/full", "/dev/null"] {
            let log = AuditLog(path: device, vaultID: fixture.vault.vaultID)
            #expect(
                code {
                    try log.append(
                        AuditFixture.entry("A"), keys: fixture.vault.keys, recorded: nil)
                } == .auditLog)
        }
    }

    @Test func `a held lock is waited for and then reported`() throws {
        let fixture = try AuditFixture()
        try fixture.add("A")
        let log = AuditLog(path: fixture.path, vaultID: fixture.vault.vaultID, lockSeconds: 0)
        let held = try AuditLogFile.locked(fixture.path, lockSeconds: 1)
        #expect(
            code {
                try log.append(AuditFixture.entry("B"), keys: fixture.vault.keys, recorded: nil)
            } == .auditLog)
        _ = held.descriptor
    }
}
