import Foundation
import Sealing
import TestSupport

@testable import Vault

/// The audit log of a vault, with the keys that open it.
struct AuditFixture {
    let vault: VaultFixture
    let log: AuditLog
    var path: String { log.path }

    init() throws {
        vault = try VaultFixture()
        log = AuditLog(
            path: vault.directory.path("state/log"), vaultID: vault.vaultID, lockSeconds: 5)
    }

    static func entry(_ names: String...) -> AuditEntry {
        AuditEntry(
            time: 1_700_000_000_000, userID: 1_000, user: "ada-lovelace", command: "reveal",
            project: "analytical-engine",
            place: "production", subjects: names.map { .init($0) },
            outcome: AuditEntry.Outcome.givenOut)
    }

    /// Adds one line per name.
    func add(_ names: String..., recorded: AuditLog.Position? = nil) throws {
        for name in names {
            try log.append(Self.entry(name), keys: vault.keys, recorded: recorded)
        }
    }

    /// The index, with the end of the log that it records.
    func index(recorded: AuditLog.Position? = nil) throws -> VaultIndex {
        var index = try vault.open().index(with: vault.keys, extent: .everything)
        index.metadata.audit = recorded
        return index
    }

    /// The first name of each line, or its outcome if it has no name.
    func read(recorded: AuditLog.Position? = nil) throws -> (names: [String], report: AuditReport) {
        var names: [String] = []
        let report = try log.read(with: vault.keys, index: index(recorded: recorded)) {
            names.append($0.entry.names.first ?? $0.entry.outcome)
        }
        return (names, report)
    }

    func bytes() throws -> [UInt8] { try vault.directory.read("state/log") }

    func replace(_ bytes: [UInt8]) throws {
        try vault.directory.write(bytes, to: "state/log")
    }

    /// The lines, each with its line feed.
    func lines() throws -> [[UInt8]] {
        try bytes().split(separator: 0x0A).map { Array($0) + [0x0A] }
    }
}
