import Foundation
import TestSupport
import Testing

/// Which commands may use an unlocked vault.
@Suite("Settings of the unlock cache")
struct CacheSettingsTests {
    @Test func `the settings say which commands may use an unlocked vault`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "value"])
        done(try home.run(["unlock", "--scope", "user", "--for", "2m"]))
        defer { _ = try? home.run(["lock"]) }
        let reveal = ["reveal", "KEY", "-p", "web"]
        let run = ["run", "-p", "web", "--", "printenv", "KEY"]
        let export = ["export", "-p", "web"]
        func opens(_ arguments: [String]) throws -> Bool {
            let result = try home.run(arguments, unlocked: false)
            if result.status == 0 {
                #expect(result.output.contains("value"))
                return true
            }
            #expect([3, 125].contains(result.status), "\(result.error)")
            #expect(result.output == "")
            return false
        }
        #expect(try [reveal, run, export].map(opens) == [false, true, true])
        done(try home.run(["config", "set", "reveal-from-cache", "true"]))
        #expect(try [reveal, run, export].map(opens) == [true, true, true])
        done(try home.run(["config", "set", "cache-for", "run,push"]))
        #expect(try [reveal, run, export].map(opens) == [true, true, false])
        done(try home.run(["config", "set", "cache-for", "none"]))
        done(try home.run(["config", "set", "reveal-from-cache", "false"]))
        #expect(try [reveal, run, export].map(opens) == [false, false, false])
        // `status` works as before, and a passphrase still opens the values.
        let status = try json(home.run(["status", "--json"], unlocked: false))
        #expect(status["values"] == "open")
        #expect(try home.revealed("KEY") == Array("value".utf8))
    }
}
