@testable import Vault

/// Errors in the index: bounds, encodings, order.
extension VectorCatalogue {
    private typealias Change = (inout [UInt8]) throws -> Void
    private typealias Row = (String, String, VectorPart, Change)

    private mutating func add(_ kind: String, _ rows: [Row], to vault: VectorVault) throws {
        for (name, description, part, change) in rows {
            try add(kind, name, description, vault) { $0.change(part, change) }
        }
    }

    private static func replacing(_ old: [UInt8], _ new: [UInt8]) -> Change {
        { try $0.change(old, to: new) }
    }

    private static func long(_ count: Int) -> [UInt8] {
        text(String(repeating: "x", count: count))
    }

    mutating func addBounds() throws {
        let rich = try VectorVault.rich()
        let max = [UInt8](repeating: 0xFF, count: 4)
        var rows: [Row] = [
            (
                "project-name", "a project's name of 1,025 bytes",
                .projects, Self.replacing(text("api"), Self.long(1_025))
            ),
            (
                "record-name", "a record's name of 1,025 bytes",
                .records, Self.replacing(text("SECOND"), Self.long(1_025))
            ),
            (
                "comment", "a comment of 4,097 bytes",
                .records, Self.replacing(text("note"), Self.long(4_097))
            ),
            (
                "branch", "a branch of 1,025 bytes",
                .records, Self.replacing(text("main"), Self.long(1_025))
            ),
            (
                "environment", "a custom environment of 4,097 bytes",
                .records, Self.replacing(text("env-b"), Self.long(4_097))
            ),
            (
                "environments", "1,001 custom environments",
                .records,
                { part in
                    let names = (0..<1_001).map { text("e\(1_000 + $0)") }
                    try part.change(list([text("env-a"), text("env-b")]), to: list(names))
                }
            ),
            (
                "text-beyond", "a text that ends behind its section",
                .accounts, Self.replacing(text("ada-l"), u32(500) + Array("ada-l".utf8))
            ),
            (
                "origin", "an origin of 4,097 bytes",
                .projects, Self.replacing(text("https://api.example.com"), Self.long(4_097))
            ),
            (
                "agreement-key", "an agreement's key of 1,025 bytes",
                .agreements, Self.replacing(text("REMOTE_KEY"), Self.long(1_025))
            ),
            (
                "former-name", "a former name of 1,025 bytes",
                .earlier, Self.replacing(text("OLD_NAME"), Self.long(1_025))
            ),
            (
                "account-name", "an account's name of 1,025 bytes",
                .accounts, Self.replacing(text("home"), Self.long(1_025))
            ),
            (
                "token", "a token of 65,537 bytes",
                .accounts,
                Self.replacing(
                    text("token of work"),
                    u32(65_537) + Array("token of work".utf8))
            ),
            (
                "token-beyond", "a token that ends behind its section",
                .accounts,
                Self.replacing(text("token of work"), u32(60) + Array("token of work".utf8))
            ),
            (
                "directory", "an approved directory of 4,097 bytes",
                .metadata, Self.replacing(text("/srv/b"), Self.long(4_097))
            ),
            (
                "setting", "a setting with a value of 1,025 bytes",
                .metadata, Self.replacing(text("preview"), Self.long(1_025))
            ),
            (
                "generations", "1,025 generations",
                .metadata,
                { part in
                    let tags = (1...1_025).map { u64($0) + [UInt8](repeating: 1, count: 16) }
                    part = list(tags) + part.dropFirst(100)
                }
            ),
            (
                "log-keys", "1,001 former log keys",
                .logKeys, { $0 = list((0..<1_001).map { _ in [UInt8](0..<32) }) }
            ),
            (
                "journal", "a payload that ends behind its section",
                .journal, Self.replacing([3, 0, 0, 0, 1, 2, 3], [99, 0, 0, 0, 1, 2, 3])
            ),
            (
                "version-above", "a current version above the highest",
                .records, Self.replacing(u64(2) + u64(5), u64(6) + u64(5))
            ),
            (
                "record-cut", "a record that ends in its middle",
                .records, { $0.removeLast(9) }
            ),
            ("metadata-empty", "metadata of no bytes", .metadata, { $0 = [] }),
            ("project-cut", "a project that ends in a number", .projects, { $0.removeLast(5) }),
            (
                "entry", "an entry that ends behind its part", .entries,
                {
                    try $0.change([3, 0, 0, 0, 4, 5, 6], to: [99, 0, 0, 0, 4, 5, 6])
                }
            ),
            ("row-cut", "a section's row that ends in its middle", .sections, { $0.removeLast(9) }),
        ]
        for part in VectorPart.allCases where ![.metadata, .logKeys].contains(part) {
            rows.append(
                (
                    "count-\(part)", "the highest number of items in \(part.name)", part,
                    { $0.replaceSubrange(0..<4, with: max) }
                ))
        }
        rows.append(
            (
                "count-one-more", "one item more than there are",
                .batches, { $0.write(UInt32(3), at: 0) }
            ))
        try add("bounds", rows, to: rich)
        try add("bounds", "part", "a part longer than the content", rich) {
            $0.changeContent = { $0.write(UInt32.max, at: 1) }
        }
        try add("bounds", "part-last", "a table of five parts", rich) {
            $0.changeTable = { $0.removeLast() }
        }
        try add("bounds", "parts-none", "a table without parts", rich) {
            $0.changeTable = { $0 = [] }
        }
        try add("bounds", "section-part", "a part longer than the section", rich) {
            $0.changeSectionPadded[VectorVault.web] = { $0.write(UInt32.max, at: 4) }
        }
        try add("bounds", "section-part-last", "a section of five parts", rich) {
            $0.changeSection[VectorVault.web] = { $0.removeLast() }
        }
        try add("bounds", "section-parts-none", "a section without parts", rich) {
            $0.changeSection[VectorVault.web] = { $0 = [] }
        }
        try add("bounds", "content-empty", "a content of no bytes", rich) {
            $0.changeContent = { $0 = [] }
        }
    }

    mutating func addEncodings() throws {
        let rich = try VectorVault.rich()
        func flag(_ part: VectorPart, _ name: String, before following: [UInt8]) -> Row {
            (
                "flag-\(name)", "2 in place of the flag of \(name)", part,
                Self.replacing([1] + following, [2] + following)
            )
        }
        func utf8(_ name: String, _ part: VectorPart, _ old: String, _ new: [UInt8]) -> Row {
            (
                "utf8-\(name)", "a text with the bytes \(new)", part,
                Self.replacing(text(old), u32(UInt32(new.count)) + new)
            )
        }
        var rows: [Row] = [
            utf8("overlong", .records, "SECOND", [0x41, 0xC0, 0x80]),
            utf8("surrogate", .records, "note", [0xED, 0xA0, 0x80]),
            utf8("cut", .projects, "api", [0x61, 0xE2, 0x82]),
            utf8("beyond", .accounts, "ada-l", [0xF4, 0x90, 0x80, 0x80]),
            utf8("alone", .records, "env-b", [0x80]),
            utf8("latin", .earlier, "OLD_NAME", [0x53, 0xFC, 0x44]),
            utf8("directory", .metadata, "/srv/b", [0x2F, 0xFF]),
            flag(.projects, "binding", before: text("https://api.example.com")),
            flag(.projects, "team", before: text("team_1")),
            flag(.records, "branch", before: text("main")),
            flag(.records, "comment", before: text("note")),
            flag(.earlier, "former-name", before: text("OLD_NAME")),
            flag(.accounts, "default", before: u64(VectorVault.accountTime)),
            (
                "flag-earlier", "2 in place of the flag of an agreement's earlier version",
                .agreements,
                Self.replacing(
                    u64(VectorVault.pushedTime) + u64(0) + [1],
                    u64(VectorVault.pushedTime) + u64(0) + [2])
            ),
            (
                "agreement-key", "an agreement without a key",
                .agreements, Self.replacing(text("REMOTE_KEY"), text(""))
            ),
            (
                "agreement-record", "an agreement that stands and has no record",
                .agreements, Self.replacing(u64(VectorVault.endedTime), u64(0))
            ),
            (
                "flag-audit", "2 in place of the flag of the audit log's place",
                .metadata,
                Self.replacing(
                    [8] + [0] + u32(2) + text("/srv/a"),
                    [8] + [2] + u32(2) + text("/srv/a"))
            ),
            (
                "type-0", "a record of type 0",
                .records, Self.replacing(text("KEY") + [3], text("KEY") + [0])
            ),
            (
                "type-6", "a record of type 6",
                .records, Self.replacing(text("SECOND") + [1], text("SECOND") + [6])
            ),
            (
                "targets", "a target that is none",
                .records, Self.replacing(text("KEY") + [3, 2], text("KEY") + [3, 10])
            ),
            (
                "protection", "a token kept in way 3",
                .accounts,
                Self.replacing(
                    u64(VectorVault.accountEnd) + [1],
                    u64(VectorVault.accountEnd) + [3])
            ),
            (
                "name-project", "a project without a name",
                .projects, Self.replacing(text("api"), text(""))
            ),
            (
                "name-record", "a record without a name",
                .records, Self.replacing(text("SECOND"), text(""))
            ),
        ]
        for part in VectorPart.allCases {
            rows.append(
                (
                    "left-\(part)", "a byte behind the last item of \(part.name)", part,
                    { $0.append(0) }
                ))
        }
        try add("encoding", rows, to: rich)
        try add("encoding", "agreement-unmerged", "two agreements that should be one", rich) {
            let scopes = [Scope(targets: .production), Scope(targets: .preview)]
            $0.index.otherAgreements[VectorVault.web] = scopes.map {
                VectorVault.agreement("ENDED_KEY", $0)
            }
        }
        try add("encoding", "left-content", "a byte behind the table's last part", rich) {
            $0.changeContent = { $0.append(1) }
        }
        try add("encoding", "parts-7", "a table of seven parts", rich) {
            $0.changeTable = { $0.append([]) }
        }
        try add("encoding", "section-parts-7", "a section of seven parts", rich) {
            $0.changeSection[VectorVault.web] = { $0.append([]) }
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
        var rows: [Row] = []
        for part in VectorPart.allCases where ![.metadata, .sections, .logKeys].contains(part) {
            let items = try rich.items(of: part)
            rows.append(
                (
                    "swapped-\(part)", "the first two items of \(part.name) swapped", part,
                    { $0 = list([items[1], items[0]] + items[2...]) }
                ))
            rows.append(
                (
                    "doubled-\(part)", "the first item of \(part.name) twice", part,
                    { $0 = list([items[0]] + items) }
                ))
        }
        rows += [
            (
                "environments", "custom environments swapped",
                .records,
                Self.replacing(text("env-a") + text("env-b"), text("env-b") + text("env-a"))
            ),
            (
                "environments-doubled", "a custom environment twice",
                .records,
                Self.replacing(text("env-a") + text("env-b"), text("env-a") + text("env-a"))
            ),
            (
                "generations", "generations swapped",
                .metadata,
                { part in
                    let first = Array(part[4..<28])
                    part.replaceSubrange(4..<28, with: part[28..<52])
                    part.replaceSubrange(28..<52, with: first)
                }
            ),
            (
                "generations-doubled", "a generation twice",
                .metadata, { $0.replaceSubrange(28..<52, with: $0[4..<28]) }
            ),
            (
                "directories", "approved directories swapped",
                .metadata, Self.replacing(text("/srv/a"), text("/srv/c"))
            ),
            (
                "directories-doubled", "an approved directory twice",
                .metadata, Self.replacing(text("/srv/b"), text("/srv/a"))
            ),
            (
                "settings", "settings swapped",
                .metadata, Self.replacing(text("schema-check"), text("schema-zheck"))
            ),
            (
                "settings-doubled", "a setting twice",
                .metadata, Self.replacing(text("schema-env.staging"), text("schema-check"))
            ),
        ]
        try add("order", rows, to: rich)
        try addOrdersOfAgreements(rich)
        try add("order", "swapped-rows", "the rows of two sections swapped", rich) {
            $0.changeRows = { $0.swapAt(0, 1) }
        }
        try add("order", "doubled-rows", "the row of a section twice", rich) {
            $0.changeRows = { $0.insert($0[0], at: 0) }
        }
    }
    /// Two agreements each, in the wrong order.
    private mutating func addOrdersOfAgreements(_ rich: VectorVault) throws {
        let (first, second) = (VectorVault.records[1], VectorVault.records[2])
        let custom = Scope(targets: [], customEnvironments: ["env-a"])
        let pairs: [(String, String, [Agreement])] = [
            (
                "agreement-branch", "an agreement of a branch before one without",
                [
                    VectorVault.agreement("K", Scope(targets: .preview, branch: "main")),
                    VectorVault.agreement("K", Scope(targets: .production)),
                ]
            ),
            (
                "agreement-target", "an agreement of a custom environment before development",
                [
                    VectorVault.agreement("K", custom, comment: nil),
                    VectorVault.agreement("K", Scope(targets: .development)),
                ]
            ),
            (
                "agreement-none", "an agreement without targets before a custom environment",
                [
                    VectorVault.agreement("K", Scope(targets: []), comment: nil),
                    VectorVault.agreement("K", custom),
                ]
            ),
            (
                "agreement-variable", "agreements of one target, the later record first",
                [
                    VectorVault.agreement("K", variable: second),
                    VectorVault.agreement("K", variable: first),
                ]
            ),
            (
                "agreement-same", "two agreements of one record for one target",
                [
                    VectorVault.agreement("K", variable: first),
                    VectorVault.agreement("K", variable: first, comment: nil),
                ]
            ),
        ]
        for (name, description, pair) in pairs {
            let items = pair.map { item in encoded { item.encode(into: &$0) } }
            try add("order", name, description, rich) {
                $0.change(.agreements) { $0 = list(items) }
            }
        }
    }
}
