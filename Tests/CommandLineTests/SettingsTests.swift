import Foundation
import TestSupport
import Testing

@testable import ZGEnvCommands

/// `config get|set|list`, and the effect of the settings.
@Suite("Settings")
struct SettingsTests {
    private static let file = "config/zg-env/config.json"

    /// Changes every setting to another sensible value.
    private static let others: KeyValuePairs<Setting, String> = [
        .revealFromCache: "true", .cacheFor: "run,history prune", .cacheIndex: "true",
        .clipboardSeconds: "9",
        .defaultTarget: "qa", .groupPublish: "auto", .historyKeep: "3", .kdf: "8MiB,1",
    ]

    @Test func `each setting has its documented default until it is set`() throws {
        let home = try CommandHome()
        let list = try json(home.run(["config", "list", "--json"]))
        let settings = list["settings"]?.elements ?? []
        #expect(settings.map { $0["key"]?.text } == Setting.allCases.map(\.rawValue))
        #expect(settings.allSatisfy { $0["value"] == $0["default"] && $0["set"] == .bool(false) })
        #expect(
            settings.map { $0["value"] } == [
                .bool(false), "all", .bool(false), 45, "development", "manual", 10, "moderate",
            ])
        #expect(!FileManager.default.fileExists(atPath: home.directory.path(Self.file)))
    }

    @Test func `a setting is stored for the user only, and nothing else changes`() throws {
        let home = try CommandHome()
        for (setting, text) in Self.others {
            done(try home.run(["config", "set", setting.rawValue, text, "--dry-run"]))
            let before = done(try home.run(["config", "get", setting.rawValue])).output
            #expect(before == setting.standard.text + "\n")
            done(try home.run(["config", "set", setting.rawValue, text]))
            #expect(done(try home.run(["config", "get", setting.rawValue])).output == text + "\n")
        }
        for (setting, text) in Self.others {
            let got = try json(home.run(["config", "get", setting.rawValue, "--json"]))
            #expect(got["value"] == (try JSONDocument(Array(got.described(text).utf8))))
            #expect(got["set"] == .bool(true))
        }
        #expect(try mode(home.directory.path(Self.file)) == 0o600)
        #expect(try mode(home.directory.path("config/zg-env")) == 0o700)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: home.directory.path("config/zg-env")) == ["config.json"])
        let file = try JSONDocument(home.directory.read(Self.file))
        #expect(file.names == Set(Setting.allCases.map(\.rawValue)))
    }

    @Test(arguments: [
        ["reveal-from-cache", "yes"], ["cache-index", "1"], ["clipboard-seconds", "0"],
        ["clipboard-seconds", "+5"],
        ["clipboard-seconds", "86401"], ["clipboard-seconds", "45s"], ["history-keep", "10001"],
        ["history-keep", "-1"], ["history-keep", "99999999999999999999"], ["kdf", "cheap"],
        ["kdf", "1MiB,1"], ["default-target", "prod"], ["default-target", "a,b"],
        ["cache-for", "reveal"], ["cache-for", "runn"], ["cache-for", "run,"],
        ["cache-for", "run, export"], ["cache-for", "__unlocked"], ["history-kepe", "3"],
        ["nothing", "3"],
    ])
    func `an invalid value is refused with the valid ones`(words: [String]) throws {
        let home = try CommandHome()
        failed(try home.run(["config", "set"] + words), 2)
        try failedAsJSON(home.run(["config", "set"] + words + ["--json"]), 2, "usage")
        #expect(!FileManager.default.fileExists(atPath: home.directory.path(Self.file)))
    }

    @Test func `a misspelled setting gets a suggestion`() throws {
        let home = try CommandHome()
        failed(try home.run(["config", "get", "reveal-from-cahce"]), 2, "reveal-from-cache")
        failed(try home.run(["config", "set", "cache-for", "exprot"]), 2, "export")
        failed(try home.run(["config", "set", "default-target", "prduction"]), 2, "production")
    }

    @Test(arguments: [
        "", "[]", "null", "{", "{\"history-keep\":\"10\"}", "{\"history-keep\":10.5}",
        "{\"history-keep\":0}", "{\"history-keep\":1e99}", "{\"kdf\":3}", "{\"kdf\":\"x\"}",
        "{\"reveal-from-cache\":\"true\"}", "{\"reveal-from-cache\":1}",
        "{\"default-target\":null}", "{\"unknown\":1}", "{\"cache-for\":[\"run\"]}", "\u{0}",
        "{\"default-target\":\"\"}",
    ])
    func `a configuration file that zg-env would not write is refused`(text: String) throws {
        let home = try CommandHome()
        try home.directory.makeDirectory("config/zg-env")
        try home.directory.write(text, to: Self.file)
        failed(try home.run(["config", "list"]), 2, "config.json")
        // It would have changed the output.
        failed(try home.run(["init"]), 2, "config.json")
        failed(try home.run(["config", "set", "history-keep", "5"]), 2, "config.json")
        #expect(try home.directory.read(Self.file) == Array(text.utf8))
    }

    @Test func `a file that others can write to, or that is too long, is refused`() throws {
        let home = try CommandHome()
        try home.directory.makeDirectory("config/zg-env")
        try home.directory.write("{}", to: Self.file, mode: 0o620)
        failed(try home.run(["config", "list"]), 2, "chmod go-w")
        try home.directory.write("{}", to: Self.file, mode: 0o644)
        done(try home.run(["config", "list"]))
        let long = "{\"kdf\":\"\(String(repeating: "x", count: 70_000))\"}"
        try home.directory.write(long, to: Self.file)
        failed(try home.run(["config", "list"]), 2, "config.json")
        try FileManager.default.removeItem(atPath: home.directory.path(Self.file))
        try home.directory.makeDirectory(Self.file)
        failed(try home.run(["config", "list"]), 2, "config.json")
    }

    @Test func `kdf is the cost of a new vault, and --kdf wins`() throws {
        let home = try CommandHome()
        done(try home.run(["config", "set", "kdf", "8MiB,2"]))
        done(try home.run(["init", "--lock"]))
        func cost() throws -> [JSONDocument?] {
            let slot = try json(home.run(["status", "--json"]))["slots"]?.elements.first
            return [slot?["memoryBytes"], slot?["operations"]]
        }
        #expect(try cost() == [.integer(8 << 20), 2])
        try FileManager.default.removeItem(atPath: home.vaultPath)
        done(try home.run(["init", "--lock", "--kdf", "9MiB,1"]))
        #expect(try cost() == [.integer(9 << 20), 1])
    }

    @Test func `default-target is the target of run and export, and -t wins`() throws {
        let home = try CommandHome.initialised()
        for target in ["production", "preview", "qa"] {
            done(
                try home.run(
                    ["set", "WHERE", "-p", "web", "-t", target, "--raw"], input: .text(target)))
        }
        for target in ["production", "preview", "qa"] {
            done(try home.run(["config", "set", "default-target", target]))
            let run = done(try home.run(["run", "-p", "web", "--", "printenv", "WHERE"]))
            #expect(run.output == target + "\n")
            #expect(run.error.contains("Using the \(target) variables"))
            let export = done(try home.run(["export", "-p", "web"]))
            #expect(export.output.contains("WHERE=\(target)\n"))
        }
        let named = done(
            try home.run(["run", "-p", "web", "-t", "preview", "--", "printenv", "WHERE"]))
        #expect(named.output == "preview\n")
    }

    @Test func `help, version and completion need no home`() throws {
        let home = try CommandHome()
        let directory = try home.directory.makeDirectory("pages")
        for arguments in [["__manual", directory], ["completion", "bash"]] {
            var runner = home.runner(arguments, unlocked: false)
            runner.environment = [:]
            done(try runner.run())
        }
        #expect(
            FileManager.default.fileExists(atPath: home.directory.path("pages/zg-env-scan.1")))
    }

    @Test func `without a home there are no settings, and commands still work`() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "value"])
        let homeless = ["HOME": "", "XDG_CONFIG_HOME": ""]
        let run = try home.run(
            ["run", "-p", "web", "--", "printenv", "KEY"], environment: homeless)
        #expect(done(run).output == "value\n")
        done(try home.run(["config", "list"], environment: homeless))
        failed(
            try home.run(["config", "set", "history-keep", "5"], environment: homeless), 1, "HOME")
    }
}

extension JSONDocument {
    /// Parses a text as JSON of this document's kind.
    fileprivate func described(_ text: String) -> String {
        if case .string = self["value"] { "\"\(text)\"" } else { text }
    }
}
