import Vault

@testable import Groups

/// Vectors of entries that are decoded alone; their signatures fit nobody.
enum EntryVectors {
    static func cut() -> Layout {
        var cut = Layout()
        cut.add("count", Layout.u32(2))
        for number in 1...2 {
            cut.add("\(number).compartment", Layout.id(number))
            cut.add("\(number).count", Layout.u32(2))
            cut.add("\(number).change.1", Layout.hash(1))
            cut.add("\(number).change.2", Layout.hash(2))
        }
        return cut
    }

    static func grants() -> Layout {
        var grants = Layout()
        grants.add("count", Layout.u32(2))
        for number in 1...2 {
            grants.add("\(number).compartment", Layout.id(number))
            grants.add("\(number).epoch", Layout.u32(number))
            grants.add("\(number).index", Layout.blob(172))
            grants.add("\(number).flag", [UInt8(number - 1)])
            grants.add("\(number).value", number == 2 ? Layout.blob(172) : [])
        }
        return grants
    }

    static func limit() -> Layout {
        var limit = Layout()
        limit.add("flag", [1])
        limit.add("count", Layout.u32(2))
        limit.add("1", Layout.id(1))
        limit.add("2", Layout.id(2))
        return limit
    }

    /// An entry with two items of each kind.
    static func entry() -> Layout {
        var entry = Layout()
        entry.add("label", Array("zg-env/entry/1\n\0".utf8))
        entry.add("number", Layout.u64(7))
        entry.add("group", Layout.hash(1))
        entry.add("previous", Layout.hash(2))
        entry.add("other.flag", [1])
        entry.add("other", Layout.hash(3))
        entry.add("author", Layout.id(1))
        entry.add("made", Layout.u64(1_700_000_000_000))
        entry.add("one-admin", [0])
        entry.add("admissions", Layout.u32(2))
        for number in 1...2 {
            let prefix = "admission.\(number)"
            entry.add("\(prefix).member", Layout.id(number))
            entry.add("\(prefix).person", Layout.id(9))
            entry.add("\(prefix).name", Layout.text("bob ü"))
            entry.add("\(prefix).role", [number == 1 ? 1 : 2])
            if number == 1 {
                entry.add("\(prefix).limit.flag", [0])
            } else {
                entry.add("\(prefix).limit", limit())
            }
            entry.add("\(prefix).keys", Layout.blob(128))
            entry.add("\(prefix).origin.flag", [UInt8(number - 1)])
            entry.add("\(prefix).origin", number == 2 ? Layout.id(5) + Layout.hash(5) : [])
            if number == 2 {
                entry.add("\(prefix).grants", grants())
            } else {
                entry.add("\(prefix).grants.count", Layout.u32(0))
            }
        }
        entry.add("roles", Layout.u32(2))
        for number in 1...2 {
            let prefix = "role.\(number)"
            entry.add("\(prefix).member", Layout.id(number + 2))
            entry.add("\(prefix).role", [number == 1 ? 3 : 4])
            entry.add("\(prefix).limit.flag", [0])
            entry.add("\(prefix).cut.flag", [UInt8(number - 1)])
            if number == 2 { entry.add("\(prefix).cut", cut()) }
            entry.add("\(prefix).grants.count", Layout.u32(0))
        }
        entry.add("removals", Layout.u32(2))
        for number in 1...2 {
            entry.add("removal.\(number).member", Layout.id(number + 4))
            if number == 1 {
                entry.add("removal.\(number).cut", cut())
            } else {
                entry.add("removal.\(number).cut.count", Layout.u32(0))
            }
        }
        entry.add("replacements", Layout.u32(2))
        for number in 1...2 {
            entry.add("replacement.\(number).member", Layout.id(number + 6))
            entry.add("replacement.\(number).keys", Layout.blob(128))
            entry.add("replacement.\(number).cut.count", Layout.u32(0))
        }
        entry.add("epochs", Layout.u32(2))
        for number in 1...2 { entry.add("epoch.\(number)", epoch(number)) }
        entry.add("voids", Layout.u32(2))
        entry.add("void.1", Layout.id(1))
        entry.add("void.2", Layout.id(2))
        entry.add("signature", Layout.blob(64))
        return entry
    }

    private static func epoch(_ number: Int) -> Layout {
        var epoch = Layout()
        epoch.add("compartment", Layout.id(number))
        epoch.add("number", Layout.u32(number))
        epoch.add("value", Layout.blob(32))
        epoch.add("commitment", Layout.hash(1))
        epoch.add("rungs", Layout.u32(number == 1 ? 0 : 2))
        for rung in 1...2 where number == 2 {
            epoch.add("rung.\(rung).entry", Layout.hash(rung))
            epoch.add("rung.\(rung).keys", Layout.blob(72 + 148))
        }
        epoch.add("recipients", Layout.u32(2))
        for recipient in 1...2 {
            epoch.add("recipient.\(recipient).member", Layout.id(recipient))
            epoch.add("recipient.\(recipient).index", Layout.blob(172))
            epoch.add("recipient.\(recipient).flag", [UInt8(recipient - 1)])
            epoch.add("recipient.\(recipient).value", recipient == 2 ? Layout.blob(172) : [])
        }
        return epoch
    }

    static var all: [GroupVector] {
        let entry = entry()
        let first = entry.with("number", Layout.u64(1)).with("group", Layout.blob(0) + zeros(32))
            .with("previous", zeros(32)).with("other.flag", [0]).with("other", [])
        func vector(_ name: String, _ description: String, _ layout: Layout, _ result: String)
            -> GroupVector
        { vector(name, description, layout.bytes, result) }
        func vector(_ name: String, _ description: String, _ bytes: [UInt8], _ result: String)
            -> GroupVector
        {
            GroupVector(
                name: "entry-\(name)", description: description,
                input: ["kind": "entry", "object": GroupVector.hexadecimal(bytes)],
                result: result)
        }
        var vectors = [
            vector("ok", "two items of each kind", entry, "ok"),
            vector("ok-first", "entry 1", first, "ok"),
            vector(
                "ok-one-admin", "entry 1 of a group of one admin", first.with("one-admin", [1]),
                "ok"),
            vector("length-15", "15 bytes", Array(entry.bytes.prefix(15)), "length"),
            vector("length-0", "no bytes", [UInt8](), "length"),
            vector(
                "label", "the label of a change",
                entry.with("label", Array("zg-env/change/1\n".utf8)), "label"),
            vector(
                "label-zero", "the label ends otherwise",
                entry.with("label", Array("zg-env/entry/1\n\u{1}".utf8)), "newer"),
            vector(
                "newer", "version 2", entry.with("label", Array("zg-env/entry/2\n\0".utf8)), "newer"
            ),
            vector("number-0", "the number 0", entry.with("number", Layout.u64(0)), "layout"),
            vector("group-zeros", "no group", entry.with("group", zeros(32)), "layout"),
            vector(
                "group-first", "a group in entry 1", first.with("group", Layout.hash(1)), "layout"),
            vector("previous-zeros", "no predecessor", entry.with("previous", zeros(32)), "layout"),
            vector(
                "previous-first", "a predecessor in entry 1",
                first.with("previous", Layout.hash(1)), "layout"),
            vector(
                "other-first", "entry 1 joins",
                first.with("other.flag", [1]).with("other", Layout.hash(1)), "layout"),
            vector("other-flag", "a flag of 2", entry.with("other.flag", [2]), "encoding"),
            vector(
                "one-admin-later", "one admin in a later entry", entry.with("one-admin", [1]),
                "layout"),
            vector("one-admin-flag", "a flag of 2", entry.with("one-admin", [2]), "encoding"),
            vector(
                "name-empty", "a member without a name",
                entry.with("admission.1.name", Layout.text("")), "encoding"),
            vector(
                "name-long", "a name of 257 bytes",
                entry.with("admission.1.name", Layout.text(String(repeating: "a", count: 257))),
                "bounds"),
            vector(
                "ok-name-long", "a name of 256 bytes",
                entry.with("admission.1.name", Layout.text(String(repeating: "a", count: 256))),
                "ok"),
            vector(
                "name-utf8", "a name that is not UTF-8",
                entry.with("admission.1.name", Layout.u32(2) + [0xC3, 0x28]), "encoding"),
            vector("role-0", "the role 0", entry.with("admission.2.role", [0]), "encoding"),
            vector("role-5", "the role 5", entry.with("admission.2.role", [5]), "encoding"),
            vector(
                "admin-limited", "an admin with a limit", entry.with("admission.2.role", [1]),
                "layout"),
            vector(
                "limit-flag", "a flag of 2", entry.with("admission.2.limit.flag", [2]), "encoding"),
            vector(
                "limit-order", "a limit out of order",
                entry.swapping("admission.2.limit.1", "admission.2.limit.2"), "order"),
            vector(
                "limit-count", "1,001 compartments",
                entry.with("admission.2.limit.count", Layout.u32(1_001)), "bounds"),
            vector(
                "origin-flag", "a flag of 2", entry.with("admission.1.origin.flag", [2]), "encoding"
            ),
            vector(
                "grant-flag", "a flag of 2", entry.with("admission.2.grants.1.flag", [2]),
                "encoding"),
            vector(
                "grants-order", "grants out of order",
                entry.swapping("admission.2.grants.1", "admission.2.grants.2"), "order"),
            vector(
                "grants-count", "10,001 grants",
                entry.with("admission.2.grants.count", Layout.u32(10_001)), "bounds"),
            vector("cut-flag", "a flag of 2", entry.with("role.1.cut.flag", [2]), "encoding"),
            vector(
                "cut-empty", "a compartment without changes in a cut",
                entry.with("role.2.cut.1.count", Layout.u32(0)).with("role.2.cut.1.change.1", [])
                    .with("role.2.cut.1.change.2", []), "layout"),
            vector(
                "cut-order", "compartments of a cut out of order",
                entry.swapping("role.2.cut.1", "role.2.cut.2"), "order"),
            vector(
                "cut-changes", "changes of a cut out of order",
                entry.swapping("removal.1.cut.1.change.1", "removal.1.cut.1.change.2"), "order"),
            vector(
                "cut-doubled", "a change twice in a cut",
                entry.copying("removal.1.cut.1.change.1", to: "removal.1.cut.1.change.2"), "order"),
            vector(
                "cut-count", "1,001 changes in a cut",
                entry.with("removal.1.cut.1.count", Layout.u32(1_001)), "bounds"),
            vector("epoch-0", "the epoch 0", entry.with("epoch.1.number", Layout.u32(0)), "layout"),
            vector("rungs-3", "three rungs", entry.with("epoch.2.rungs", Layout.u32(3)), "bounds"),
            vector(
                "rungs-order", "rungs out of order",
                entry.swapping("epoch.2.rung.1", "epoch.2.rung.2"), "order"),
            vector(
                "recipients-order", "recipients out of order",
                entry.swapping("epoch.1.recipient.1", "epoch.1.recipient.2"), "order"),
            vector(
                "recipients-doubled", "a recipient twice",
                entry.copying("epoch.1.recipient.1", to: "epoch.1.recipient.2"), "order"),
            vector(
                "recipient-flag", "a flag of 2", entry.with("epoch.1.recipient.1.flag", [2]),
                "encoding"),
            vector(
                "voids-order", "void invites out of order", entry.swapping("void.1", "void.2"),
                "order"),
            vector("left", "a byte after the signature", entry.bytes + [0], "encoding"),
        ]
        for list in ["admission", "role", "removal", "replacement", "epoch"] {
            vectors.append(
                vector(
                    "\(list)-order", "\(list) items out of order",
                    entry.swapping("\(list).1", "\(list).2"), "order"))
            vectors.append(
                vector(
                    "\(list)-doubled", "one \(list) item twice",
                    entry.copying("\(list).1", to: "\(list).2"), "order"))
            vectors.append(
                vector(
                    "\(list)-count", "more \(list) items than remain",
                    entry.with("\(list)s", Layout.u32(900)), "bounds"))
            vectors.append(
                vector(
                    "\(list)-most", "2³² - 1 \(list) items",
                    entry.with("\(list)s", Layout.u32(0xFFFF_FFFF)), "bounds"))
        }
        vectors += listBounds(entry)
        vectors.append(
            vector(
                "cut-compartment-doubled", "a compartment twice in a cut",
                entry.copying("role.2.cut.1", to: "role.2.cut.2"), "order"))
        vectors += [
            vector(
                "role-admin-limited", "an admin with a limit in a role item",
                entry.with("role.1.role", [1]).with("role.1.limit.flag", limit().bytes), "layout")
        ]
        for length in [16, 23, 100, 118, entry.bytes.count - 65, entry.bytes.count - 1] {
            vectors.append(
                vector(
                    "cut-off-\(length)", "only the first \(length) bytes",
                    Array(entry.bytes.prefix(length)), "bounds"))
        }
        return vectors
    }

    /// Each list with as many items as it may have, and one more; and with as many items as remain,
    /// and one byte less. Zeros follow, in which the first or second item has another problem.
    private static func listBounds(_ entry: Layout) -> [GroupVector] {
        let lists: [(field: String, most: Int, least: Int, problem: String)] = [
            ("admissions", 1_000, 171, "encoding"), ("role.1.limit.flag", 1_000, 16, "order"),
            ("admission.2.grants.count", 10_000, 193, "order"), ("roles", 1_000, 23, "encoding"),
            ("role.2.cut.count", 10_000, 20, "layout"), ("role.2.cut.1.count", 1_000, 32, "order"),
            ("removals", 1_000, 20, "order"), ("replacements", 1_000, 148, "order"),
            ("epochs", 10_000, 92, "layout"), ("epoch.2.rungs", 2, 252, "order"),
            ("epoch.2.recipients", 1_000, 189, "order"), ("voids", 1_000, 16, "order"),
        ]
        return lists.flatMap { list in
            bounds(
                "entry", entry, list.field, most: list.most, least: list.least, list.problem,
                after: list.field.hasSuffix("flag") ? [1] : []
            ) {
                ["kind": "entry", "object": GroupVector.hexadecimal($0)]
            }
        }
    }

    /// Vectors of an object that ends with one list of zeros.
    static func bounds(
        _ kind: String, _ object: Layout, _ field: String, most: Int, least: Int,
        _ problem: String, after prefix: [UInt8] = [], _ input: ([UInt8]) -> [String: Any]
    ) -> [GroupVector] {
        let name = "\(kind)-\(field.replacing(".", with: "-"))"
        func made(
            _ suffix: String, _ description: String, _ count: Int, _ zeros: Int, _ result: String
        ) -> GroupVector {
            var input = input(object.through(field).with(field, prefix + Layout.u32(count)).bytes)
            input["zeros"] = zeros
            return GroupVector(
                name: "\(name)-\(suffix)", description: "\(field): \(description)", input: input,
                result: result)
        }
        // In three items, the first two show another problem before the end is reached.
        let few = min(3, most)
        return [
            made("least", "\(few) items without a last byte", few, few * least - 1, "bounds"),
            made("least-ok", "\(few) items that fit", few, few * least, problem),
            made("most", "one item more than there may be", most + 1, (most + 1) * least, "bounds"),
            made("most-ok", "as many items as there may be", most, most * least, problem),
        ]
    }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
