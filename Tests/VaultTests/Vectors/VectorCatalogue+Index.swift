@testable import Vault

/// Errors in the index: bounds, encodings, order.
extension VectorCatalogue {
    private typealias Change = (inout [[UInt8]]) throws -> Void
    private typealias Row = (String, String, Change)

    /// Sections of the index, from 0.
    private enum Section {
        static let metadata = 0
        static let projects = 1
        static let records = 2
        static let current = 3
        static let earlier = 4
        static let batches = 5
        static let journal = 6
        static let accounts = 7
        static let logKeys = 8
    }

    private mutating func add(_ kind: String, _ rows: [Row], to vault: VectorVault) throws {
        for (name, description, change) in rows {
            try add(kind, name, description, vault) { $0.changeSections = change }
        }
    }

    private static func replacing(_ section: Int, _ old: [UInt8], _ new: [UInt8]) -> Change {
        { try $0[section].change(old, to: new) }
    }

    private static func long(_ count: Int) -> [UInt8] {
        text(String(repeating: "x", count: count))
    }

    mutating func addBounds() throws {
        let rich = try VectorVault.rich()
        let max = [UInt8](repeating: 0xFF, count: 4)
        let liveTime = u64(VectorVault.liveTime)
        var rows: [Row] = [
            (
                "project-name", "a project's name of 1,025 bytes",
                Self.replacing(Section.projects, text("api"), Self.long(1_025))
            ),
            (
                "record-name", "a record's name of 1,025 bytes",
                Self.replacing(Section.records, text("SECOND"), Self.long(1_025))
            ),
            (
                "comment", "a comment of 4,097 bytes",
                Self.replacing(Section.records, text("note"), Self.long(4_097))
            ),
            (
                "branch", "a branch of 1,025 bytes",
                Self.replacing(Section.records, text("main"), Self.long(1_025))
            ),
            (
                "environment", "a custom environment of 4,097 bytes",
                Self.replacing(Section.records, text("env-b"), Self.long(4_097))
            ),
            (
                "environments", "1,001 custom environments",
                { sections in
                    let names = (0..<1_001).map { text("e\(1_000 + $0)") }
                    try sections[Section.records].change(
                        list([text("env-a"), text("env-b")]), to: list(names))
                }
            ),
            (
                "text-beyond", "a text that ends behind its section",
                Self.replacing(Section.accounts, text("ada-l"), u32(500) + Array("ada-l".utf8))
            ),
            (
                "origin", "an origin of 4,097 bytes",
                Self.replacing(
                    Section.projects, text("https://api.example.com"), Self.long(4_097))
            ),
            (
                "remote-key", "a remote's key of 1,025 bytes",
                Self.replacing(Section.records, text("REMOTE_KEY"), Self.long(1_025))
            ),
            (
                "former-name", "a former name of 1,025 bytes",
                Self.replacing(Section.earlier, text("OLD_NAME"), Self.long(1_025))
            ),
            (
                "account-name", "an account's name of 1,025 bytes",
                Self.replacing(Section.accounts, text("home"), Self.long(1_025))
            ),
            (
                "token", "a token of 65,537 bytes",
                Self.replacing(
                    Section.accounts, text("token of work"),
                    u32(65_537) + Array("token of work".utf8))
            ),
            (
                "token-beyond", "a token that ends behind its section",
                Self.replacing(
                    Section.accounts, text("token of work"), u32(60) + Array("token of work".utf8))
            ),
            (
                "directory", "an approved directory of 4,097 bytes",
                Self.replacing(Section.metadata, text("/srv/b"), Self.long(4_097))
            ),
            (
                "setting", "a setting with a value of 1,025 bytes",
                Self.replacing(Section.metadata, text("preview"), Self.long(1_025))
            ),
            (
                "generations", "1,025 generations",
                { sections in
                    let tags = (1...1_025).map { u64($0) + [UInt8](repeating: 1, count: 16) }
                    let old = Array(sections[Section.metadata][..<100])
                    sections[Section.metadata] =
                        list(tags) + sections[Section.metadata].dropFirst(old.count)
                }
            ),
            (
                "log-keys", "1,001 former log keys",
                { $0[Section.logKeys] = list((0..<1_001).map { _ in [UInt8](0..<32) }) }
            ),
            (
                "journal", "a payload that ends behind its section",
                Self.replacing(Section.journal, [3, 0, 0, 0, 1, 2, 3], [99, 0, 0, 0, 1, 2, 3])
            ),
            (
                "version-above", "a current version above the highest",
                Self.replacing(Section.records, u64(2) + u64(5), u64(6) + u64(5))
            ),
            (
                "record-cut", "a record that ends in its middle",
                { $0[Section.records].removeLast(9) }
            ),
            (
                "live-cut", "a project that ends in a number",
                { sections in
                    try sections[Section.projects].change(liveTime, to: Array(liveTime[..<4]))
                    sections[Section.projects] = Array(sections[Section.projects].dropLast(54))
                }
            ),
            ("metadata-empty", "metadata of no bytes", { $0[Section.metadata] = [] }),
            ("section-last", "eight sections", { $0.removeLast() }),
            ("sections-none", "no sections", { $0 = [] }),
        ]
        let lists = [
            ("projects", Section.projects), ("records", Section.records),
            ("current", Section.current), ("earlier", Section.earlier),
            ("batches", Section.batches), ("journal-entries", Section.journal),
            ("accounts", Section.accounts),
        ]
        for (name, section) in lists {
            rows.append(
                (
                    "count-\(name)", "the highest number of items in section \(section + 1)",
                    { $0[section].replaceSubrange(0..<4, with: max) }
                ))
        }
        rows.append(
            (
                "count-one-more", "one item more than there are",
                { $0[Section.batches].write(UInt32(3), at: 0) }
            ))
        try add("bounds", rows, to: rich)
        try add("bounds", "section", "a section longer than the content", rich) {
            $0.changeContent = { $0.write(UInt32.max, at: 1) }
        }
        try add("bounds", "content-empty", "a content of no bytes", rich) {
            $0.changeContent = { $0 = [] }
        }
    }

    mutating func addEncodings() throws {
        let rich = try VectorVault.rich()
        func flag(_ section: Int, _ name: String, before following: [UInt8]) -> Row {
            (
                "flag-\(name)", "2 in place of the flag of \(name)",
                Self.replacing(section, [1] + following, [2] + following)
            )
        }
        func utf8(_ name: String, _ section: Int, _ old: String, _ new: [UInt8]) -> Row {
            (
                "utf8-\(name)", "a text with the bytes \(new)",
                Self.replacing(section, text(old), u32(UInt32(new.count)) + new)
            )
        }
        var rows: [Row] = [
            utf8("overlong", Section.records, "SECOND", [0x41, 0xC0, 0x80]),
            utf8("surrogate", Section.records, "note", [0xED, 0xA0, 0x80]),
            utf8("cut", Section.projects, "api", [0x61, 0xE2, 0x82]),
            utf8("beyond", Section.accounts, "ada-l", [0xF4, 0x90, 0x80, 0x80]),
            utf8("alone", Section.records, "env-b", [0x80]),
            utf8("latin", Section.earlier, "OLD_NAME", [0x53, 0xFC, 0x44]),
            utf8("directory", Section.metadata, "/srv/b", [0x2F, 0xFF]),
            flag(Section.projects, "binding", before: text("https://api.example.com")),
            flag(Section.projects, "team", before: text("team_1")),
            flag(Section.projects, "live", before: text("dpl_1")),
            flag(Section.records, "remote", before: text("env_1")),
            flag(Section.records, "branch", before: text("main")),
            flag(Section.records, "comment", before: text("note")),
            flag(Section.earlier, "former-name", before: text("OLD_NAME")),
            flag(Section.accounts, "default", before: u64(VectorVault.accountTime)),
            (
                "flag-gone", "255 in place of the flag of a remote that is gone",
                Self.replacing(
                    Section.records, u64(VectorVault.goneTime) + [0],
                    u64(VectorVault.goneTime) + [255])
            ),
            (
                "flag-earlier", "2 in place of the flag of a remote's earlier version",
                Self.replacing(
                    Section.records, u64(VectorVault.pushedTime) + [1],
                    u64(VectorVault.pushedTime) + [2])
            ),
            (
                "flag-audit", "2 in place of the flag of the audit log's place",
                Self.replacing(
                    Section.metadata, [8] + [0] + u32(2) + text("/srv/a"),
                    [8] + [2] + u32(2) + text("/srv/a"))
            ),
            (
                "type-0", "a record of type 0",
                Self.replacing(Section.records, text("KEY") + [3], text("KEY") + [0])
            ),
            (
                "type-6", "a record of type 6",
                Self.replacing(Section.records, text("SECOND") + [1], text("SECOND") + [6])
            ),
            (
                "targets", "a target that is none",
                Self.replacing(Section.records, text("KEY") + [3, 2], text("KEY") + [3, 10])
            ),
            (
                "protection", "a token kept in way 3",
                Self.replacing(
                    Section.accounts, u64(VectorVault.accountEnd) + [1],
                    u64(VectorVault.accountEnd) + [3])
            ),
            (
                "name-project", "a project without a name",
                Self.replacing(Section.projects, text("api"), text(""))
            ),
            (
                "name-record", "a record without a name",
                Self.replacing(Section.records, text("SECOND"), text(""))
            ),
        ]
        let names = [
            "metadata", "projects", "records", "current", "earlier", "batches", "journal",
            "accounts", "log-keys",
        ]
        for (section, name) in names.enumerated() {
            rows.append(
                (
                    "left-\(name)", "a byte behind the last item of section \(section + 1)",
                    { $0[section].append(0) }
                ))
        }
        rows.append(("sections-10", "ten sections", { $0.append([]) }))
        try add("encoding", rows, to: rich)
        try add("encoding", "left-content", "a byte behind the ninth section", rich) {
            $0.changeContent = { $0.append(1) }
        }
        try add("encoding", "groups", "2 in place of the flag of groups", rich) {
            $0.changeContent = { $0[0] = 2 }
        }
        try add("newer", "groups", "a vault that shares projects with a group", rich) {
            $0.changeContent = { $0 = [1] + $0.dropFirst() }
        }
        try add("newer", "groups-alone", "the flag of groups, and nothing behind it", rich) {
            $0.changeContent = { $0 = [1] }
        }
    }

    mutating func addOrders() throws {
        let rich = try VectorVault.rich()
        let names = ["projects", "records", "current", "earlier", "batches", "journal", "accounts"]
        var rows: [Row] = []
        for (place, name) in names.enumerated() {
            let section = place + 1
            let items = try rich.items(ofSection: section)
            rows.append(
                (
                    "swapped-\(name)", "the first two items of section \(section + 1) swapped",
                    { $0[section] = list([items[1], items[0]] + items[2...]) }
                ))
            rows.append(
                (
                    "doubled-\(name)", "the first item of section \(section + 1) twice",
                    { $0[section] = list([items[0]] + items) }
                ))
        }
        rows += [
            (
                "environments", "custom environments swapped",
                Self.replacing(
                    Section.records, text("env-a") + text("env-b"), text("env-b") + text("env-a"))
            ),
            (
                "environments-doubled", "a custom environment twice",
                Self.replacing(
                    Section.records, text("env-a") + text("env-b"), text("env-a") + text("env-a"))
            ),
            (
                "generations", "generations swapped",
                { sections in
                    let first = Array(sections[0][4..<28])
                    sections[0].replaceSubrange(4..<28, with: sections[0][28..<52])
                    sections[0].replaceSubrange(28..<52, with: first)
                }
            ),
            (
                "generations-doubled", "a generation twice",
                { $0[0].replaceSubrange(28..<52, with: $0[0][4..<28]) }
            ),
            (
                "directories", "approved directories swapped",
                { sections in
                    try sections[0].change(text("/srv/a"), to: text("/srv/c"))
                }
            ),
            (
                "directories-doubled", "an approved directory twice",
                { sections in
                    try sections[0].change(text("/srv/b"), to: text("/srv/a"))
                }
            ),
            (
                "settings", "settings swapped",
                { sections in
                    try sections[0].change(text("schema-check"), to: text("schema-zheck"))
                }
            ),
            (
                "settings-doubled", "a setting twice",
                { sections in
                    try sections[0].change(text("schema-env.staging"), to: text("schema-check"))
                }
            ),
        ]
        try add("order", rows, to: rich)
    }
}
