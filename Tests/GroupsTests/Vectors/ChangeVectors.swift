import Sealing
import Vault

@testable import Groups

/// Vectors of changes, of what they seal, and of their values.
enum ChangeVectors {
    private static let keys = TestPool.epochs[0]
    private static let author = TestPool.members[1]
    private static let group = Layout.hash(1)
    private static let compartment = Layout.id(2)
    private static let seed = Layout.id(4)
    private static let batch = Layout.id(6)

    /// The clear part, to the length of the operations.
    static func header() -> Layout {
        var header = Layout()
        header.add("label", Array("zg-env/change/1\n".utf8))
        header.add("kind", [1])
        header.add("key", [2])
        header.add("group", group)
        header.add("compartment", compartment)
        header.add("epoch", Layout.u32(3))
        header.add("author", author.id.bytes)
        header.add("chain", Layout.id(3))
        header.add("counter", Layout.u64(2))
        header.add("before", Layout.hash(9))
        header.add("entry-number", Layout.u64(4))
        header.add("entry", Layout.hash(8))
        header.add("parents", Layout.u32(2))
        header.add("parent.1", Layout.hash(1))
        header.add("parent.2", Layout.hash(2))
        return header
    }

    private static func refs(_ numbers: [Int]) -> [UInt8] {
        Layout.u32(numbers.count) + numbers.flatMap { Layout.hash(1) + Layout.u16($0) }
    }

    private static func scope(_ targets: UInt8 = 1) -> [UInt8] {
        [targets] + Layout.u32(1) + Layout.text("qa") + [1] + Layout.text("main")
    }

    /// One operation of each kind, and a second value.
    static func content() -> Layout {
        var content = Layout()
        content.add("made", Layout.u64(1_700_000_000_000))
        content.add("batch.flag", [1])
        content.add("batch", batch)
        content.add("count", Layout.u32(15))
        for kind in 1...14 {
            let name = "op.\(kind)"
            content.add("\(name).kind", [UInt8(kind)])
            if ![10, 11, 14].contains(kind) { content.add("\(name).record", Layout.id(5)) }
            if kind != 1, kind != 14 {
                content.add("\(name).replaces", refs(kind < 3 ? [] : [0, 3]))
            }
            switch kind {
            case 1:
                content.add("\(name).name", Layout.text("KEY"))
                content.add("\(name).type", [3])
                content.add("\(name).scope", scope())
                content.add("\(name).comment.flag", [1])
                content.add("\(name).comment", Layout.text("a comment"))
                content.add("\(name).reminder", Layout.u64(86_400))
            case 2: content.add(name, value())
            case 3: content.add("\(name).version", Layout.hash(1) + Layout.u16(1))
            case 5:
                content.add("\(name).flag", [0])
            case 6: content.add("\(name).reminder", Layout.u64(0))
            case 7: content.add("\(name).type", [5])
            case 8: content.add("\(name).scope", scope(7))
            case 9, 10: content.add("\(name).name", Layout.text("näme"))
            case 11:
                content.add("\(name).flag", [1])
                content.add("\(name).origin", Layout.text("https://api.vercel.com"))
                content.add("\(name).team.flag", [1])
                content.add("\(name).team", Layout.text("team_1"))
                content.add("\(name).project", Layout.text("prj_1"))
                content.add("\(name).name", Layout.text(""))
            case 12:
                content.add("\(name).version", Layout.hash(1) + Layout.u16(1))
                content.add("\(name).id", Layout.text("env_1"))
                content.add("\(name).key", Layout.text("KEY"))
                content.add("\(name).type", [1])
                content.add("\(name).scope", scope())
                content.add("\(name).updated", Layout.u64(1_700_000_000_001))
            case 13: content.add("\(name).begins", [1])
            case 14:
                content.add("\(name).what", [1])
                content.add("\(name).ids", Layout.id(7) + Layout.id(8))
                content.add("\(name).reason", Layout.text("expired"))
            default: break
            }
        }
        content.add("op.15.kind", [2])
        content.add("op.15.record", Layout.id(5))
        content.add("op.15.replaces", refs([]))
        content.add("op.15", value())
        return content
    }

    private static func value() -> Layout {
        var value = Layout()
        value.add("seed", seed)
        value.add("sealed", Layout.text("KEY"))
        value.add("length", Layout.u32(168))
        return value
    }

    private static func padded(_ content: [UInt8]) -> [UInt8] {
        let length = 4 + content.count
        return Layout.u32(content.count) + content
            + EntryVectors.zeros(Padding.paddedByteCount(ofValue: length) - length)
    }

    static func object(
        _ header: Layout, padded: [UInt8], values: [UInt8]
    ) throws -> Layout {
        var object = Layout()
        object.add("header", header)
        let sealed = keys.index.seal(padded, additionalData: header.bytes)
        object.add("operations.length", Layout.u32(sealed.count))
        object.add("operations", sealed)
        object.add("values.length", Layout.u32(values.count))
        object.add("values", values)
        let key = header.fields.first { $0.name == "key" }?.bytes == [1]
        let signature =
            key
            ? object.bytes.withBytes { author.write.signature(of: $0) }
            : object.bytes.withBytes { author.authority.signature(of: $0) }
        object.add("signature", signature)
        return object
    }

    /// Two sealed values with their data key.
    private static func values(_ texts: [String] = ["first value", ""]) throws -> [UInt8] {
        guard let record = Identifier(Layout.id(5)), let groupHash = GroupHash(group),
            let compartment = Identifier(compartment), let batch = Identifier(batch),
            let seed = Identifier(seed)
        else { fatalError("16 bytes") }
        var values = try SealedValues(
            DataKeyContext(group: groupHash, compartment: compartment, epoch: 3, batch: batch),
            publicKey: keys.valueKey)
        for text in texts {
            _ = try Array(text.utf8).withBytes {
                try values.append(
                    $0, record: record,
                    version: VersionIdentity.id(author: author.id, seed: seed), sealedName: "KEY")
            }
        }
        return values.bytes
    }

    private static func vector(
        _ name: String, _ description: String, _ bytes: [UInt8], _ result: String,
        expected: [String: Any] = [:]
    ) -> GroupVector {
        GroupVector(
            name: "change-\(name)", description: description,
            input: [
                "kind": "change", "object": GroupVector.hexadecimal(bytes),
                "indexKey": GroupVector.hexadecimal(keys.indexBytes),
                "valueSecret": GroupVector.hexadecimal(keys.valueBytes),
                "writeKey": GroupVector.hexadecimal(author.keys.write),
                "authorityKey": GroupVector.hexadecimal(author.keys.authority),
            ], result: result, expected: expected)
    }

    static func all() throws -> [GroupVector] {
        try headers() + contents() + valueVectors()
    }

    private static func headers() throws -> [GroupVector] {
        let values = try values()
        func made(_ header: Layout) throws -> Layout {
            try object(header, padded: padded(Self.content().bytes), values: values)
        }
        func header(_ name: String, _ description: String, _ header: Layout, _ result: String)
            throws -> GroupVector
        { vector(name, description, try made(header).bytes, result) }
        let right = Self.header()
        let whole = try made(right)
        var many = right.with("parents", Layout.u32(64))
        many = many.with("parent.1", (1...32).flatMap(Layout.hash))
            .with("parent.2", (33...64).flatMap(Layout.hash)).with("before", Layout.hash(90))
        let first = right.with("counter", Layout.u64(1)).with(
            "before", EntryVectors.zeros(32))
        var vectors = [
            vector(
                "ok", "an operation of each kind, and two values", whole.bytes, "ok",
                expected: [
                    "values": ["first value", ""].map {
                        GroupVector.hexadecimal(Array($0.utf8))
                    }
                ]),
            try header("ok-write", "signed with the write key", right.with("key", [1]), "ok"),
            try header("ok-first", "the first of a chain", first, "ok"),
            try header("ok-parents", "64 parents", many, "ok"),
            vector("length", "15 bytes", Array(whole.bytes.prefix(15)), "length"),
            vector(
                "label", "the label of an entry",
                whole.with("header.label", Array("zg-env/entry/1\n\0".utf8)).bytes, "label"),
            vector(
                "newer", "version 2",
                whole.with("header.label", Array("zg-env/change/2\n".utf8)).bytes, "newer"),
            vector("snapshot", "a snapshot", whole.with("header.kind", [2]).bytes, "newer"),
            vector("kind-0", "the kind 0", whole.with("header.kind", [0]).bytes, "encoding"),
            vector("kind-3", "the kind 3", whole.with("header.kind", [3]).bytes, "encoding"),
            vector("key-0", "the key 0", whole.with("header.key", [0]).bytes, "encoding"),
            vector("key-3", "the key 3", whole.with("header.key", [3]).bytes, "encoding"),
            vector(
                "epoch-0", "the epoch 0", whole.with("header.epoch", Layout.u32(0)).bytes, "layout"),
            vector(
                "counter-0", "the counter 0", whole.with("header.counter", Layout.u64(0)).bytes,
                "layout"),
            vector(
                "before-missing", "the counter 2 without a change before",
                whole.with("header.before", EntryVectors.zeros(32)).bytes, "layout"),
            vector(
                "before-first", "the counter 1 with a change before",
                whole.with("header.counter", Layout.u64(1)).bytes, "layout"),
            vector(
                "entry-0", "the entry number 0",
                whole.with("header.entry-number", Layout.u64(0)).bytes, "layout"),
            vector(
                "parents-order", "parents out of order",
                whole.swapping("header.parent.1", "header.parent.2").bytes, "order"),
            vector(
                "parents-doubled", "one parent twice",
                whole.copying("header.parent.1", to: "header.parent.2").bytes, "order"),
            vector(
                "parents-65", "65 parents",
                whole.with("header.parents", Layout.u32(65)).with(
                    "header.parent.2", (2...65).flatMap(Layout.hash)
                ).bytes, "bounds"),
            vector(
                "parents-many", "more parents than remain",
                whole.with("header.parents", Layout.u32(0xFFFF_FFFF)).bytes, "bounds"),
            vector(
                "parents-before", "before among the parents",
                whole.with("header.before", Layout.hash(2)).bytes, "layout"),
            vector(
                "operations-short", "167 bytes of operations",
                whole.with("operations.length", Layout.u32(167)).with(
                    "operations", Layout.blob(167)
                ).bytes, "bounds"),
            vector(
                "operations-beyond", "operations that end behind the object",
                whole.with("operations.length", Layout.u32(0x7FFF_FFFF)).bytes, "bounds"),
            vector(
                "values-1", "one byte of values",
                whole.with("values.length", Layout.u32(1)).with("values", [0]).bytes, "layout"),
            vector(
                "values-331", "331 bytes of values",
                whole.with("values.length", Layout.u32(331)).with("values", Layout.blob(331)).bytes,
                "layout"),
            vector(
                "values-beyond", "values that end behind the object",
                whole.with("values.length", Layout.u32(values.count + 65)).bytes, "bounds"),
            vector("left", "a byte after the signature", whole.bytes + [0], "encoding"),
            vector(
                "signature", "another signature", whole.with("signature", Layout.blob(64)).bytes,
                "signature"),
            vector(
                "signature-key", "signed with the other key", whole.with("header.key", [1]).bytes,
                "signature"),
            vector(
                "signature-header", "another chain than was signed",
                whole.with("header.chain", Layout.id(7)).bytes, "signature"),
        ]
        vectors += EntryVectors.bounds(
            "change", whole, "header.parents", most: 64, least: 32, "order"
        ) {
            [
                "kind": "change", "object": GroupVector.hexadecimal($0),
                "indexKey": GroupVector.hexadecimal(keys.indexBytes),
                "valueSecret": GroupVector.hexadecimal(keys.valueBytes),
                "writeKey": GroupVector.hexadecimal(author.keys.write),
                "authorityKey": GroupVector.hexadecimal(author.keys.authority),
            ]
        }
        for length in [16, 18, 60, 200, whole.bytes.count - 1] {
            vectors.append(
                vector(
                    "cut-off-\(length)", "only the first \(length) bytes",
                    Array(whole.bytes.prefix(length)), "bounds"))
        }
        return vectors
    }

    private static func contents() throws -> [GroupVector] {
        let values = try values()
        let right = Self.content()
        func made(_ padded: [UInt8], _ values: [UInt8]) throws -> [UInt8] {
            try object(Self.header(), padded: padded, values: values).bytes
        }
        func content(_ name: String, _ description: String, _ content: Layout, _ result: String)
            throws -> GroupVector
        { vector("content-\(name)", description, try made(padded(content.bytes), values), result) }
        let plain = padded(right.bytes)
        let sealed = try object(Self.header(), padded: plain, values: values)
        guard let place = sealed.fields.firstIndex(where: { $0.name == "operations" }) else {
            return []
        }
        var flipped = sealed.fields[place].bytes
        flipped[40] ^= 1
        func signed(_ object: Layout) -> [UInt8] {
            let bytes = Array(object.bytes.dropLast(64))
            return bytes + bytes.withBytes { author.authority.signature(of: $0) }
        }
        var short = Layout()
        for field in right.fields.prefix(4) { short.add(field.name, field.bytes) }
        short = short.with("count", Layout.u32(0))
        let noBatch = short.with("batch.flag", [0]).with("batch", [])
        var last = plain
        last[last.count - 1] = 1
        var vectors = [
            vector("content-ok-empty", "no operations", try made(padded(noBatch.bytes), []), "ok"),
            vector(
                "content-tag", "a changed ciphertext", signed(sealed.with("operations", flipped)),
                "tag"),
            vector(
                "content-tag-header", "sealed for another chain",
                signed(sealed.with("header.chain", Layout.id(7))), "tag"),
            vector("content-padding-last", "a last byte of 1", try made(last, values), "padding"),
            vector(
                "content-padding-length", "another padded length",
                try made(plain + EntryVectors.zeros(128), values), "padding"),
            vector(
                "content-padding-beyond", "a length that ends behind the text",
                try made(Layout.u32(plain.count - 3) + plain.dropFirst(4), values), "padding"),
            vector(
                "content-padding-most", "a length of 2³² - 1",
                try made(Layout.u32(0xFFFF_FFFF) + plain.dropFirst(4), values), "padding"),
            vector(
                "content-batch-missing", "values without a batch",
                try made(padded(right.with("batch.flag", [0]).with("batch", []).bytes), values),
                "layout"),
            vector(
                "content-batch-alone", "a batch without values", try made(padded(short.bytes), []),
                "layout"),
            vector(
                "content-values-missing", "values that no operation has",
                try made(padded(short.bytes), values), "layout"),
            vector(
                "content-values-short", "one chunk for two values",
                try made(plain, Array(values.dropLast(168))), "layout"),
            try content(
                "left", "a byte after the last operation",
                {
                    var copy = right; copy.add("left", [0]); return copy
                }(), "encoding"),
            try content("batch-flag", "a flag of 2", right.with("batch.flag", [2]), "encoding"),
            try content(
                "count-4097", "4,097 operations", right.with("count", Layout.u32(4_097)), "bounds"),
            try content(
                "count-beyond", "more operations than remain",
                right.with("count", Layout.u32(4_000)), "bounds"),
            try content(
                "count-fewer", "fewer operations than there are",
                right.with("count", Layout.u32(14)), "layout"),
            try content("kind-0", "the operation 0", right.with("op.4.kind", [0]), "encoding"),
            try content("kind-15", "the operation 15", right.with("op.4.kind", [15]), "encoding"),
            try content(
                "name-empty", "a variable without a name", right.with("op.1.name", Layout.text("")),
                "encoding"),
            try content(
                "name-long", "a name of 1,025 bytes",
                right.with("op.1.name", Layout.text(String(repeating: "A", count: 1_025))), "bounds"
            ),
            try content(
                "ok-name-long", "a name of 1,024 bytes",
                right.with("op.1.name", Layout.text(String(repeating: "A", count: 1_024))), "ok"),
            try content("type-0", "the type 0", right.with("op.1.type", [0]), "encoding"),
            try content("type-6", "the type 6", right.with("op.7.type", [6]), "encoding"),
            try content(
                "targets", "a fourth target", right.with("op.8.scope", scope(8)), "encoding"),
            try content(
                "scope-empty", "an empty scope",
                right.with("op.8.scope", [0] + Layout.u32(0) + [0]), "layout"),
            try content(
                "scope-order", "custom environments out of order",
                right.with(
                    "op.8.scope", [1] + Layout.u32(2) + Layout.text("b") + Layout.text("a") + [0]),
                "order"),
            try content("comment-flag", "a flag of 2", right.with("op.5.flag", [2]), "encoding"),
            try content(
                "comment-long", "a comment of 4,097 bytes",
                right.with("op.1.comment", Layout.text(String(repeating: "c", count: 4_097))),
                "bounds"),
            try content(
                "comment-utf8", "a comment that is not UTF-8",
                right.with("op.1.comment", Layout.u32(1) + [0xFF]), "encoding"),
            try content(
                "replaces-order", "replaced assignments out of order",
                right.with("op.3.replaces", refs([3, 0])), "order"),
            try content(
                "replaces-doubled", "an assignment replaced twice",
                right.with("op.3.replaces", refs([3, 3])), "order"),
            try content(
                "replaces-many", "1,001 replaced assignments",
                right.with("op.3.replaces", refs(Array(0...1_000))), "bounds"),
            try content(
                "ok-replaces", "1,000 replaced assignments",
                right.with("op.3.replaces", refs(Array(1...1_000))), "ok"),
            try content(
                "replaces-beyond", "more replaced assignments than remain",
                right.with("op.13.replaces", Layout.u32(900)), "bounds"),
            try content(
                "seal-name", "a value sealed for no name",
                right.with("op.2.sealed", Layout.text("")), "encoding"),
            try content(
                "chunk-0", "a chunk of no bytes", right.with("op.2.length", Layout.u32(0)), "layout"
            ),
            try content(
                "chunk-169", "a chunk length that padding does not give",
                right.with("op.2.length", Layout.u32(169)), "layout"),
            try content(
                "chunk-most", "a chunk of 2³² - 1 bytes",
                right.with("op.2.length", Layout.u32(0xFFFF_FFFF)), "layout"),
            try content(
                "chunk-more", "longer chunks than the values",
                right.with("op.2.length", Layout.u32(296)), "layout"),
            try content(
                "binding-origin", "a binding without an origin",
                right.with("op.11.origin", Layout.text("")), "encoding"),
            try content(
                "binding-project", "a binding without a project",
                right.with("op.11.project", Layout.text("")), "encoding"),
            try content(
                "claim-id", "a claim without an id", right.with("op.12.id", Layout.text("")),
                "encoding"),
            try content(
                "claim-key", "a claim without a key", right.with("op.12.key", Layout.text("")),
                "encoding"),
            try content(
                "rotation-flag", "a flag of 2", right.with("op.13.begins", [2]), "encoding"),
            try content("settle-0", "the settlement 0", right.with("op.14.what", [0]), "encoding"),
            try content("settle-3", "the settlement 3", right.with("op.14.what", [3]), "encoding"),
            try content(
                "settle-reason", "a reason of 1,025 bytes",
                right.with("op.14.reason", Layout.text(String(repeating: "r", count: 1_025))),
                "bounds"),
        ]
        vectors += try longTexts(right, content)
        vectors += try listBounds(right) { try made(padded($0), values) }
        for (name, length) in [("40", 40), ("170", 170), ("167", 167)] {
            // The values have the length that the operations say.
            let short = Array(values.prefix(164 + length)) + values.suffix(168)
            let zeros = EntryVectors.zeros(164 + length + 168 - short.count)
            vectors.append(
                vector(
                    "content-chunk-\(name)", "a chunk of \(length) bytes, which no value has",
                    try made(
                        padded(right.with("op.2.length", Layout.u32(length)).bytes), short + zeros),
                    "layout"))
        }
        for kind in [1, 12] {
            for (name, scope) in [
                ("", [0] + Layout.u32(0) + [0]),
                ("-branch", [0] + Layout.u32(0) + [1] + Layout.text("main")),
            ] {
                vectors.append(
                    try content(
                        "scope-empty-\(kind)\(name)", "a scope without target and environment",
                        right.with("op.\(kind).scope", scope), "layout"))
            }
        }
        vectors.append(
            try content(
                "ok-environment", "a scope of one environment",
                right.with("op.8.scope", [0] + Layout.u32(1) + Layout.text("qa") + [0]), "ok"))
        for kind in 7...9 {
            vectors.append(
                try content(
                    "replaces-none-\(kind)", "operation \(kind) replaces nothing",
                    right.with("op.\(kind).replaces", refs([])), "layout"))
        }
        return vectors
    }

    /// Every text with as many bytes as it may have, and each with one more.
    private static func longTexts(
        _ right: Layout, _ content: (String, String, Layout, String) throws -> GroupVector
    ) throws -> [GroupVector] {
        func text(_ count: Int) -> [UInt8] { Layout.text(String(repeating: "t", count: count)) }
        func scope(_ environment: Int, _ branch: Int) -> [UInt8] {
            [1] + Layout.u32(1) + text(environment) + [1] + text(branch)
        }
        let texts: [(String, Int)] = [
            ("op.1.name", 1_024), ("op.1.comment", 4_096), ("op.9.name", 1_024),
            ("op.10.name", 1_024), ("op.11.origin", 4_096), ("op.11.team", 4_096),
            ("op.11.project", 4_096), ("op.11.name", 4_096), ("op.12.id", 4_096),
            ("op.12.key", 1_024), ("op.14.reason", 1_024),
        ]
        var longest = right.with("op.8.scope", scope(4_096, 1_024))
        for (name, count) in texts { longest = longest.with(name, text(count)) }
        var vectors = [try content("ok-longest", "all texts as long as they may be", longest, "ok")]
        for (name, count) in texts {
            vectors.append(
                try content(
                    "long-\(name.dropFirst(3).replacing(".", with: "-"))",
                    "a text of \(count + 1) bytes in \(name)", right.with(name, text(count + 1)),
                    "bounds"))
        }
        vectors.append(
            try content(
                "long-environment", "a custom environment of 4,097 bytes",
                right.with("op.8.scope", scope(4_097, 1)), "bounds"))
        vectors.append(
            try content(
                "long-branch", "a branch of 1,025 bytes",
                right.with("op.8.scope", scope(1, 1_025)), "bounds"))
        return vectors
    }

    /// The lists in operations, as ``EntryVectors/bounds(_:_:_:most:least:_:_:)`` does it.
    private static func listBounds(
        _ right: Layout, _ made: ([UInt8]) throws -> [UInt8]
    ) throws -> [GroupVector] {
        let lists: [(String, String, [UInt8], most: Int, least: Int, problem: String)] = [
            ("count", "operations", [], 4_096, 6, "encoding"),
            ("op.8.scope", "environments", [1], 1_000, 4, "order"),
            ("op.3.replaces", "replaced assignments", [], 1_000, 34, "order"),
        ]
        var vectors: [GroupVector] = []
        for (field, what, prefix, most, least, problem) in lists {
            for (name, count, zeros, result) in [
                ("least", 3, 3 * least - 1, "bounds"), ("least-ok", 3, 3 * least, problem),
                ("most", most + 1, (most + 1) * least, "bounds"),
                ("most-ok", most, most * least, problem),
            ] {
                let text = right.through(field).with(field, prefix + Layout.u32(count)).bytes
                vectors.append(
                    vector(
                        "content-\(field.replacing(".", with: "-"))-\(name)",
                        "\(count) \(what), and \(zeros) zeros",
                        try made(text + EntryVectors.zeros(zeros)), result))
            }
        }
        return vectors
    }

    /// Two values, of which the first is padded by hand.
    private static func values(padded first: [UInt8]) throws -> [UInt8] {
        guard let record = Identifier(Layout.id(5)), let groupHash = GroupHash(group),
            let compartment = Identifier(compartment), let batch = Identifier(batch),
            let seed = Identifier(seed)
        else { fatalError("16 bytes") }
        let context = DataKeyContext(
            group: groupHash, compartment: compartment, epoch: 3, batch: batch)
        let key = try TestRandom.secret(Layout.hash(77))
        var values = try context.wrap(key, to: keys.valueKey)
        let data = context.chunkData(
            record: record, version: VersionIdentity.id(author: author.id, seed: seed),
            sealedName: "KEY")
        for text in [first, EntryVectors.zeros(128)] {
            let nonce = AuthenticatedCipher.randomNonce()
            values += nonce
            text.withBytes {
                AuthenticatedCipher.seal(
                    $0, nonce: nonce, additionalData: data, key: key, appendingTo: &values)
            }
        }
        return values
    }

    private static func valueVectors() throws -> [GroupVector] {
        let values = try values()
        func made(_ values: [UInt8], _ content: Layout = content()) throws -> [UInt8] {
            try object(Self.header(), padded: padded(content.bytes), values: values).bytes
        }
        func flipped(_ place: Int) -> [UInt8] {
            var copy = values
            copy[place] ^= 1
            return copy
        }
        let swapped = Array(values[..<164]) + values[332...] + values[164..<332]
        let other = content().with("batch", Layout.id(7))
        let wrongName = content().with("op.2.sealed", Layout.text("KEZ"))
        let wrongSeed = content().with("op.2.seed", Layout.id(9))
        let wrongRecord = content().with("op.2.record", Layout.id(6)).with(
            "op.1.record", Layout.id(6))
        let text = Layout.u32(3) + Array("abc".utf8)
        let paddings: [(String, String, [UInt8], String)] = [
            ("ok-by-hand", "a value that is padded by hand", text + EntryVectors.zeros(121), "ok"),
            ("value-padding-last", "a last byte of 1", text + EntryVectors.zeros(120) + [1], "tag"),
            (
                "value-padding-more", "a length that ends behind the text",
                Layout.u32(125) + EntryVectors.zeros(124), "tag"
            ),
            (
                "value-padding-most", "a length of 2³² - 1",
                Layout.u32(0xFFFF_FFFF) + EntryVectors.zeros(124), "tag"
            ),
        ]
        let byHand = try paddings.map { name, description, padded, result in
            vector(
                name, description, try made(Self.values(padded: padded)), result,
                expected: result == "ok" ? ["values": ["616263", ""]] : [:])
        }
        return byHand + [
            vector("value-data-key", "a changed data key", try made(flipped(20)), "tag"),
            vector("value-first", "a changed first value", try made(flipped(200)), "tag"),
            vector("value-last", "a changed last tag", try made(flipped(499)), "tag"),
            vector("value-batch", "a data key of another batch", try made(values, other), "tag"),
            vector("value-name", "sealed for another name", try made(values, wrongName), "tag"),
            vector(
                "value-version", "sealed for another version", try made(values, wrongSeed), "tag"),
            vector(
                "value-record", "sealed for another record", try made(values, wrongRecord), "tag"),
            vector(
                "value-swapped", "two values of one version in the other order",
                try made(swapped), "ok",
                expected: [
                    "values": ["", "first value"].map {
                        GroupVector.hexadecimal(Array($0.utf8))
                    }
                ]),
        ]
    }
}
