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
        case setWhole = "set"
        case setBoth = "-t production,preview"
        case importBoth = "import -t production,preview"
        case editWhole = "edit"
        case restored = "set -t production, restore-version 1 -t production"
        case restoredElsewhere = "restore-version 1 -t staging"
        case copyProject = "copy --to-project web2, rm --all"
        case renamed = "rename, rename back"
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
        case .setWhole: try set("new")
        case .setBoth: try set("new", "-t", "production,preview")
        case .importBoth:
            done(
                try home.run(
                    ["import", "-", "-p", "web", "-t", "production,preview"],
                    input: .text("KEY=new\n")))
        case .editWhole:
            let editor = try home.editor(
                "text=$(sed s/old/new/ \"$1\"); printf '%s\n' \"$text\" >\"$1\"")
            done(try home.editing(["KEY", "-p", "web"], with: editor).run())
        case .restored:
            try set("new", "-t", "production")
            done(
                try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "production"]))
        case .restoredElsewhere:
            done(try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "staging"]))
        case .copyProject:
            done(try home.run(["copy", "KEY", "-p", "web", "--to-project", "web2"]))
            done(try home.run(["project", "remove", "web", "--yes"]))
            done(try home.run(["project", "rename", "web2", "web"]))
        case .renamed:
            done(try home.run(["rename", "KEY", "OTHER", "-p", "web"]))
            done(try home.run(["rename", "OTHER", "KEY", "-p", "web"]))
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
        let isNewElsewhere: [Way] = [
            .setBranch, .copy, .restoredElsewhere, .removed, .removedWholly, .removedElsewhere,
            .narrowedThenRemoved,
        ]
        if isNewElsewhere.contains(way) { return }
        for record in records {
            #expect(record["comment"]?.text == "billing", "\(record)")
        }
    }

    @Test func `VAL-F1 development never becomes sensitive by itself, and nothing else weaker`()
        throws
    {
        try set("old", "-t", "production,preview", "--type", "sensitive")
        var before = try home.vaultBytes()
        for command in [["set", "KEY"], ["import", "-"]] {
            failed(
                try home.run(
                    command + ["-p", "web", "-t", "production,development"],
                    input: .text(command[0] == "set" ? "new" : "KEY=new")), 2, "sensitive",
                "--type encrypted")
        }
        #expect(try home.vaultBytes() == before)
        try set("local", "-t", "development")
        #expect(try home.scopes(of: "KEY") == ["development", "production,preview"])
        before = try home.vaultBytes()
        let copies = [
            ["copy", "KEY", "-t", "production", "--to-target", "development"],
            ["restore-version", "KEY", "1", "-t", "development"],
        ]
        for copy in copies {
            failed(
                try home.run(copy + ["-p", "web"]), 2,
                "KEY is sensitive, and Vercel does not allow that in development.",
                "--type encrypted")
        }
        #expect(try home.vaultBytes() == before)
        // What development had may come back, and what its user says.
        try set("newer", "-t", "development")
        done(
            try home.run(["restore-version", "KEY", "2", "-p", "web", "-t", "development"]))
        #expect(try home.revealed("KEY", "-t", "development") == Array("local".utf8))
        for copy in copies {
            done(try home.run(copy + ["-p", "web", "--type", "encrypted"]))
            #expect(try home.revealed("KEY", "-t", "development") == Array("old".utf8))
            try set("newest", "-t", "development")
        }
        // One command for both leaves each as it was.
        try set("both", "-t", "production,development")
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(
            list["variables"]?.elements.map { $0["type"] }
                == ["encrypted", "sensitive", "sensitive"])
    }

    @Test func `VAL-F1 of several replaced values each keeps its type and comment`() throws {
        try set("one", "-t", "production", "--type", "encrypted", "--comment", "billing")
        try set("two", "-t", "preview", "--type", "sensitive")
        let both = try json(
            home.run(
                ["set", "KEY", "-p", "web", "-t", "production,preview", "--json"],
                input: .text("both")))
        #expect(both["version"] == 3 && both["type"] == "encrypted")
        #expect(both["values"]?.elements.map { $0["type"] } == ["encrypted", "sensitive"])
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(list["variables"]?.elements.map { $0["type"] } == ["sensitive", "encrypted"])
        #expect(list["variables"]?.elements.map { $0["version"] } == [3, 3])
        #expect(list["variables"]?.elements.map { $0["comment"] } == [.null, "billing"])
        // One value needs no -t, although its types differ.
        try set("again")
        #expect(try home.revealed("KEY", "-t", "production") == Array("again".utf8))
        #expect(try home.revealed("KEY", "-t", "preview") == Array("again".utf8))
        try set("one", "-t", "production")
        try set("two", "-t", "preview", "--type", "sensitive")
        // A copy is as strict as the value it copies.
        try set("open", "-t", "qa", "--type", "plain")
        done(
            try home.run(
                ["copy", "KEY", "-p", "web", "-t", "preview", "--to-target", "qa"]))
        let after = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(
            after["variables"]?.elements.map { $0["type"]?.text } == ["sensitive", "encrypted"])
        #expect(try home.scopes(of: "KEY") == ["preview,qa", "production"])
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

    @Test func `VAL-F1 a version is restored for any target, whichever had it`() throws {
        try set("first", "-t", "production,preview")
        try set("second", "-t", "production")
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(list["variables"]?.elements.map { $0["version"] } == [1, 2])
        done(
            try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "production"]))
        #expect(try home.revealed("KEY", "-t", "production") == Array("first".utf8))
        try set("third", "-t", "production")
        try set("other", "-t", "preview")
        let copied = done(
            try home.run(
                ["copy", "KEY", "-p", "web", "-t", "preview", "--to-target", "production"]))
        #expect(copied.output.contains("updated"))
        let same = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(same["variables"]?.elements.map { $0["version"] } == [4])
        #expect(same["variables"]?.elements.first?["targets"] == ["production", "preview"])
        done(
            try home.run(["restore-version", "KEY", "2", "-p", "web", "-t", "production"]))
        #expect(try home.revealed("KEY", "-t", "production") == Array("second".utf8))
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

    @Test func `VAL-F1 a number never means two values of a variable`() throws {
        try set("one", "-t", "production,preview")
        try set("two")
        done(try home.run(["rm", "KEY", "-p", "web", "-t", "preview", "--yes"]))
        let again = try json(
            home.run(
                ["set", "KEY", "-p", "web", "-t", "preview", "--json"], input: .text("three")))
        #expect(again["version"] == 3)
        done(
            try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "preview"]))
        #expect(try home.revealed("KEY", "-t", "preview") == Array("one".utf8))
    }

    /// What a variable became after its version 1 was a Secret.
    static let weakenings = [
        ["set KEY -t production --type encrypted"],
        ["rm KEY -t production --yes", "set KEY -t preview --type encrypted"],
        [
            "set KEY -t preview --type encrypted", "set KEY -t production --type plain",
            "rename KEY OTHER", "rename OTHER KEY",
        ],
    ]

    @Test(arguments: weakenings)
    func `VAL-F1 a version that was a Secret stays one, whatever its variable became`(
        commands: [String]
    ) throws {
        try set("secret", "-t", "production,preview", "--type", "sensitive")
        for command in commands {
            done(
                try home.run(
                    command.split(separator: " ").map(String.init) + ["-p", "web"],
                    input: .text("open")))
        }
        failed(
            try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "development"]), 2,
            "sensitive")
        done(try home.run(["copy", "KEY", "-p", "web", "-t", "preview", "--to-project", "other"]))
        let copied = try json(home.run(["history", "KEY", "-p", "other", "--json"]))
        let list = try json(home.run(["list", "KEY", "-p", "other", "--json"]))
        let isSecret = list["variables"]?.elements.first?["type"] == "sensitive"
        for version in copied["versions"]?.elements ?? [] {
            guard case .integer(let number) = version["version"] else { continue }
            let value = try home.revealed("KEY", "--version", "\(number)", project: "other")
            #expect(isSecret || value != Array("secret".utf8))
        }
        done(try home.run(["restore-version", "KEY", "1", "-p", "web", "-t", "production"]))
        #expect(try home.revealed("KEY", "-t", "production") == Array("secret".utf8))
        let after = try json(home.run(["list", "KEY", "-p", "web", "-t", "production", "--json"]))
        #expect(after["variables"]?.elements.map { $0["type"] } == ["sensitive"])
    }

    @Test func `VAL-F1 a renamed variable is a Secret where its new name was one`() throws {
        try set("old", "-t", "production,preview", "--type", "sensitive")
        done(try home.run(["rm", "KEY", "-p", "web", "--yes"]))
        done(try home.run(["set", "C", "-p", "web"], input: .text("plain")))
        let renamed = done(try home.run(["rename", "C", "KEY", "-p", "web"]))
        #expect(renamed.error.contains("is sensitive again"))
        let list = try json(home.run(["list", "KEY", "-p", "web", "--json"]))
        #expect(list["variables"]?.elements.map { $0["type"] } == ["encrypted", "sensitive"])
        #expect(
            list["variables"]?.elements.map { $0["targets"] } == [
                ["development"], ["production", "preview"],
            ])
    }
}
