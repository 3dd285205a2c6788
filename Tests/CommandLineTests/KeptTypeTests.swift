import TestSupport
import Testing

/// VAL-F1 and VAL-F6: what a value of a part of the targets takes over, and what an equal value does.
@Suite("Types that are kept")
struct KeptTypeTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
    }

    /// A command that gives a value to a part of what the variable is for.
    enum Way: String, CaseIterable {
        case set = "-t production"
        case setPreview = "-t preview"
        case setBranch = "-t preview -b feature"
        case setWider = "-t production,staging"
        case generate = "--generate hex:8 -t production"
        case importFile = "import -t production"
        case copy = "copy --to-target staging"
        case edit = "edit -t production"
        case removed = "rm -t preview, set -t preview"
        case removedWholly = "rm --all, set"
        case removedElsewhere = "rm --all, set -t staging"
        case narrowedThenRemoved = "rm -t preview, rm --all, set -t preview"
    }

    static let cases = Way.allCases.flatMap { way in
        ["sensitive", "encrypted", "plain"].map { (way, $0) }
    }

    private func set(_ value: String, _ options: String...) throws {
        done(
            try home.run(
                ["set", "KEY", "-p", "web", "--raw"] + options, input: .text(value)))
    }

    private func take(_ way: Way) throws {
        switch way {
        case .set: try set("new", "-t", "production")
        case .setPreview: try set("new", "-t", "preview")
        case .setBranch: try set("new", "-t", "preview", "-b", "feature")
        case .setWider: try set("new", "-t", "production,staging")
        case .generate:
            done(
                try home.run([
                    "set", "KEY", "-p", "web", "-t", "production", "--generate", "hex:8",
                ]))
        case .importFile:
            done(
                try home.run(
                    ["import", "-", "-p", "web", "-t", "production"], input: .text("KEY=new\n")))
        case .copy:
            done(
                try home.run(
                    ["copy", "KEY", "-p", "web", "-t", "production", "--to-target", "staging"]))
        case .edit:
            let editor = try home.editor(
                "text=$(sed s/old/new/ \"$1\"); printf '%s\n' \"$text\" >\"$1\"")
            done(try home.editing(["KEY", "-p", "web", "-t", "production"], with: editor).run())
        case .removed:
            done(try home.run(["rm", "KEY", "-p", "web", "-t", "preview", "--yes"]))
            try set("new", "-t", "preview")
        case .removedWholly:
            done(try home.run(["rm", "KEY", "-p", "web", "--all", "--yes"]))
            try set("new")
        case .removedElsewhere:
            done(try home.run(["rm", "KEY", "-p", "web", "--all", "--yes"]))
            try set("new", "-t", "staging")
        case .narrowedThenRemoved:
            done(try home.run(["rm", "KEY", "-p", "web", "-t", "preview", "--yes"]))
            done(try home.run(["rm", "KEY", "-p", "web", "--all", "--yes"]))
            try set("new", "-t", "preview")
        }
    }

    @Test(arguments: cases)
    func `VAL-F1 a value of some targets keeps the type and comment`(
        way: Way, kind: String
    ) throws {
        try set(
            "old", "-t", "production,preview", "--type", kind, "--comment", "billing")
        try take(way)
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        let records = list["variables"]?.elements ?? []
        #expect(!records.isEmpty)
        for record in records {
            #expect(record["type"]?.text == kind, "\(record)")
        }
        // What replaces a value of its targets is about the same thing.
        guard [.set, .setPreview, .setWider, .generate, .importFile, .edit].contains(way) else {
            return
        }
        for record in records {
            #expect(record["comment"]?.text == "billing", "\(record)")
        }
    }

    @Test func `VAL-F1 development never becomes sensitive by itself, and nothing else weaker`()
        throws
    {
        try set("old", "-t", "production,preview", "--type", "sensitive")
        try set("local", "-t", "development")
        #expect(try home.scopes(of: "KEY") == ["development", "production,preview"])
        let before = try home.vaultBytes()
        for command in [["set", "KEY"], ["import", "-"]] {
            failed(
                try home.run(
                    command + ["-p", "web", "-t", "production,development"],
                    input: .text(command[0] == "set" ? "new" : "KEY=new")), 2, "sensitive",
                "--type encrypted")
        }
        failed(
            try home.run([
                "copy", "KEY", "-p", "web", "-t", "production", "--to-target", "development",
            ]), 2, "sensitive")
        #expect(try home.vaultBytes() == before)
    }

    @Test func `VAL-F1 of several replaced values the strictest type stays`() throws {
        try set("one", "-t", "production", "--type", "encrypted")
        try set("two", "-t", "preview", "--type", "sensitive")
        try set("both", "-t", "production,preview")
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(list["variables"]?.elements.map { $0["type"]?.text } == ["sensitive"])
        // A copy is as strict as the value it copies.
        try set("open", "-t", "qa", "--type", "plain")
        done(
            try home.run(
                ["copy", "KEY", "-p", "web", "-t", "production", "--to-target", "qa"]))
        let after = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(
            after["variables"]?.elements.map { $0["type"]?.text } == ["sensitive", "sensitive"])
    }

    @Test func `VAL-F1 a weaker type and the version that stays are said`() throws {
        try set("old", "-t", "production,preview", "--type", "sensitive")
        let kept = done(
            try home.run(["set", "KEY", "-p", "web", "-t", "production"], input: .text("new")))
        #expect(kept.error.contains("sensitive"))
        #expect(kept.error.contains("(version 1) remains for preview"), "\(kept.error)")
        #expect(!kept.error.contains("readable"))
        let weaker = done(
            try home.run(
                ["set", "KEY", "-p", "web", "-t", "production", "--type", "encrypted"],
                input: .text("newer")))
        #expect(
            weaker.error.contains(
                "warning: KEY (production): becomes readable on Vercel; its type changes from sensitive to encrypted."
            ), "\(weaker.error)")
        let imported = try json(
            home.run(
                ["import", "-", "-p", "web", "-t", "preview", "--type", "plain", "--json"],
                input: .text("KEY=third\n")))
        #expect(
            imported["warnings"]?.elements.map { $0["code"]?.text } == ["weaker-type"],
            "\(imported)")
    }

    @Test func `VAL-F1 a version that stays elsewhere is restored by the printed command`() throws {
        try set("first", "-t", "production,preview")
        try set("second", "-t", "production")
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(list["variables"]?.elements.map { $0["version"] } == [1, 2])
        let refused = try home.run(
            ["restore-version", "KEY", "1", "-p", "web", "-t", "production"])
        failed(
            refused, 2, "Version 1 of KEY is a value for preview, not for production.",
            "zg-env copy KEY -p web -t preview --to-target production")
        done(
            try home.run(
                ["copy", "KEY", "-p", "web", "-t", "preview", "--to-target", "production"]))
        #expect(try home.revealed("KEY", "-t", "production") == Array("first".utf8))

        // Not the current value there any more: the hint reads the version itself.
        try set("third", "-t", "production")
        try set("other", "-t", "preview")
        failed(
            try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "production"]), 2,
            "zg-env reveal KEY -p web -t preview --version 1 | zg-env set KEY -p web -t production --raw"
        )
        let revealed = done(
            try home.run(["reveal", "KEY", "-p", "web", "-t", "preview", "--version", "1"]))
        try set(revealed.output, "-t", "production")
        #expect(try home.revealed("KEY", "-t", "production") == Array("first".utf8))
    }

    @Test(arguments: ["production", "preview", "development", "production,development"])
    func `VAL-F6 an equal value changes nothing, however narrow the targets`(
        targets: String
    ) throws {
        try set("same", "--type", "plain", "--comment", "why")
        func state() throws -> JSONDocument {
            try json(home.run(["history", "KEY", "-p", "web", "--json"]))
        }
        let before = try state()
        let again = try json(
            home.run(
                ["set", "KEY", "-p", "web", "-t", targets, "--raw", "--json"],
                input: .text("same")))
        #expect(again["unchanged"] == true)
        #expect(again["version"] == 1)
        let imported = try json(
            home.run(
                ["import", "-", "-p", "web", "-t", targets, "--json"], input: .text("KEY=same\n")))
        #expect(imported["unchanged"] == ["KEY"])
        #expect(imported["updated"] == [])
        #expect(try state() == before)
        #expect(try home.scopes(of: "KEY") == ["production,preview,development"])
        // A comment alone changes the whole record.
        let commented = try json(
            home.run(
                ["set", "KEY", "-p", "web", "-t", targets, "--raw", "--json", "--comment", "x"],
                input: .text("same")))
        #expect(commented["unchanged"] == true)
        #expect(try home.scopes(of: "KEY") == ["production,preview,development"])
        // Another type is a wish for these targets.
        let other = try json(
            home.run(
                [
                    "set", "KEY", "-p", "web", "-t", targets, "--raw", "--json", "--type",
                    "encrypted",
                ],
                input: .text("same")))
        #expect(other["unchanged"] == false)
        #expect(other["type"] == "encrypted")
    }

    @Test func `VAL-F1 a number never means two values of a target`() throws {
        try set("one", "-t", "production,preview")
        try set("two")
        done(try home.run(["rm", "KEY", "-p", "web", "-t", "preview", "--yes"]))
        let again = try json(
            home.run(
                ["set", "KEY", "-p", "web", "-t", "preview", "--json"], input: .text("three")))
        #expect(again["version"] == 3)
        failed(
            try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "preview"]), 2,
            "Version 1 of KEY is a value for production, not for preview.")
    }
}
