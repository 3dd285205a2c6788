import Vault

@testable import Groups

/// The fields of an object in their order, by name, written without the encoders under test.
struct Layout {
    private(set) var fields: [(name: String, bytes: [UInt8])] = []

    var bytes: [UInt8] { fields.flatMap(\.bytes) }

    mutating func add(_ name: String, _ bytes: [UInt8]) { fields.append((name, bytes)) }

    /// Adds the fields of another layout, with a prefix.
    mutating func add(_ prefix: String, _ other: Layout) {
        for field in other.fields { add("\(prefix).\(field.name)", field.bytes) }
    }

    /// Replaces the only field of a name.
    func with(_ name: String, _ bytes: [UInt8]) -> Layout {
        var copy = self
        let places = fields.indices.filter { fields[$0].name == name }
        precondition(places.count == 1, "\(name) is there \(places.count) times")
        copy.fields[places[0]].bytes = bytes
        return copy
    }

    /// The fields up to the only one of a name.
    func through(_ name: String) -> Layout {
        var copy = self
        guard let place = fields.firstIndex(where: { $0.name == name }) else {
            preconditionFailure(name)
        }
        copy.fields.removeSubrange((place + 1)...)
        return copy
    }

    /// Exchanges everything below two prefixes.
    func swapping(_ one: String, _ other: String) -> Layout {
        func range(_ prefix: String) -> Range<Int> {
            let places = fields.indices.filter {
                fields[$0].name == prefix || fields[$0].name.hasPrefix(prefix + ".")
            }
            precondition(!places.isEmpty, prefix)
            return places[0]..<(places[places.count - 1] + 1)
        }
        let (first, second) = (range(one), range(other))
        precondition(first.upperBound <= second.lowerBound)
        var copy = self
        var all = Array(fields[..<first.lowerBound])
        all.append(contentsOf: fields[second])
        all.append(contentsOf: fields[first.upperBound..<second.lowerBound])
        all.append(contentsOf: fields[first])
        all.append(contentsOf: fields[second.upperBound...])
        copy.fields = all
        return copy
    }

    /// Puts what is below one prefix in the place of what is below another.
    func copying(_ one: String, to other: String) -> Layout {
        var copy = swapping(one, other)
        let source = fields.filter { $0.name == one || $0.name.hasPrefix(one + ".") }
        let place = copy.fields.firstIndex {
            $0.name == other || $0.name.hasPrefix(other + ".")
        }
        guard let place else { preconditionFailure(other) }
        let count = copy.fields.count {
            $0.name == other || $0.name.hasPrefix(other + ".")
        }
        copy.fields.replaceSubrange(place..<place + count, with: source)
        return copy
    }

    static func u16(_ value: Int) -> [UInt8] { integer(value, 2) }
    static func u32(_ value: Int) -> [UInt8] { integer(value, 4) }
    static func u64(_ value: Int) -> [UInt8] { integer(value, 8) }

    private static func integer(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func text(_ value: String) -> [UInt8] { u32(value.utf8.count) + Array(value.utf8) }

    /// 16 bytes that ascend with the number.
    static func id(_ number: Int) -> [UInt8] {
        [UInt8(number)] + [UInt8](repeating: 0x11, count: 15)
    }

    /// 32 bytes that ascend with the number.
    static func hash(_ number: Int) -> [UInt8] {
        [UInt8(number)] + [UInt8](repeating: 0x22, count: 31)
    }

    static func blob(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x33, count: count) }
}
