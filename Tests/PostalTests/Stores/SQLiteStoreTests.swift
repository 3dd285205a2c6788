import Foundation
import Postal
import TestSupport
import Testing

/// A database in a directory of its own.
struct SQLitePlace: StorePlace {
    let directory: TemporaryDirectory
    let limits: StoreLimits

    var prunesByGivenTime: Bool { true }
    var servesSeveralRelays: Bool { false }
    var path: String { directory.path("postal.db") }

    init(_ limits: StoreLimits = StoreLimits()) throws {
        directory = try TemporaryDirectory(named: "zg-postal")
        self.limits = limits
    }

    func open(serving: Bool) throws -> any PostalStore {
        try SQLiteStore(path: path, createsFile: true, servesAlone: serving, limits: limits)
    }
}

@Suite struct SQLiteStoreTests {
    @Test(arguments: StoreCheck.allCases)
    func `It passes every store check`(_ check: StoreCheck) throws {
        try check.run(SQLitePlace(check.limits))
    }
}
