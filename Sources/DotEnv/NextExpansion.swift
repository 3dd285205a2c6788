/// Expands the values of one file like `@next/env`: dotenv 16 parses it, and dotenv-expand 10
/// replaces names by values, in an otherwise empty environment.
///
/// That program replaces text repeatedly, from the last `$` on, until nothing is left to replace.
/// It does not know the quotes. A default wins over a value of the same file, the first text that
/// looks like the reference is replaced wherever the reference was, and `$$`, `$&`, `` $` `` and
/// `$'` are special in the inserted text.
///
/// An intermediate value is a list of positions in the source, so that no byte of it is copied.
struct NextExpansion {
    /// Most replacements in one value; that program's stack ends somewhere above.
    private static let maximumSteps = 1_024

    /// The expanded values, by the index of their entries.
    private(set) var values: [Int: [ValueRun]] = [:]
    /// Their lengths in bytes.
    private(set) var lengths: [Int: Int] = [:]

    private let text: SourceText
    private let file: DotEnvFile
    private let effective: [ExactName: Int]
    /// Most positions read and written while the file is expanded; the first part allows 1,024
    /// replacements in a value of 8 KiB.
    private let maximumWork: Int
    private var work = 0

    /// A position in the source, or a literal byte b as -1 - b.
    private typealias Unit = Int32

    /// Names that every JavaScript object inherits, which return a value of a different kind.
    private static let inheritedNames: Set<String> = [
        "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
        "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
        "toLocaleString", "toString", "valueOf",
    ]

    /// - Throws: ``DotEnvError`` with `expansionCycle` or `expansionTooLarge` if that program fails
    ///   and uses nothing of the file, and `refused` for inherited JavaScript names.
    init(
        _ file: DotEnvFile, _ text: SourceText, effective: [ExactName: Int]
    ) throws(DotEnvError) {
        self.text = text
        self.file = file
        self.effective = effective
        maximumWork = (8 << 20) + 4 * text.count
        for index in Self.order(file, effective) {
            let entry = file.entries[index]
            guard text.contains(Byte.dollar, in: entry.valueRange), entry.key != "__proto__" else {
                continue
            }
            let expanded = resolvingEscapes(try interpolated(units(of: index), of: index))
            values[index] = runs(expanded)
            lengths[index] = expanded.count
        }
    }

    /// Returns the effective entries in JavaScript's property order: numbers first, then the others
    /// by their first position.
    private static func order(_ file: DotEnvFile, _ effective: [ExactName: Int]) -> [Int] {
        var seen = Set<ExactName>()
        var numbers: [(UInt32, Int)] = []
        var names: [Int] = []
        for entry in file.entries {
            guard seen.insert(ExactName(entry.key)).inserted,
                let index = effective[ExactName(entry.key)]
            else { continue }
            if let number = UInt32(entry.key), number < .max, String(number) == entry.key {
                numbers.append((number, index))
            } else {
                names.append(index)
            }
        }
        return numbers.sorted { $0.0 < $1.0 }.map(\.1) + names
    }

    // MARK: Units

    private func byte(_ unit: Unit) -> UInt8 {
        unit < 0 ? UInt8(truncatingIfNeeded: -1 - unit) : text[Int(unit)]
    }

    private static func unit(_ byte: UInt8) -> Unit { -1 - Unit(byte) }

    /// Returns the current value: as written, or already expanded.
    private func units(of index: Int) -> [Unit] {
        var units: [Unit] = []
        func add(_ run: ValueRun) {
            switch run {
            case .source(let range):
                for place in range { units.append(Unit(truncatingIfNeeded: place)) }
            case .literal(let byte): units.append(Self.unit(byte))
            }
        }
        if let value = values[index] {
            value.forEach(add)
        } else {
            let entry = file.entries[index]
            var runs = ValueRuns(text, entry.valueRange, entry.encoding)
            while let run = runs.next() { add(run) }
        }
        return units
    }

    private func runs(_ units: [Unit]) -> [ValueRun] {
        var runs: [ValueRun] = []
        var stretch: Range<Int>?
        for unit in units {
            if let open = stretch {
                if Int(unit) == open.upperBound {
                    stretch = open.lowerBound..<open.upperBound + 1
                    continue
                }
                runs.append(.source(open))
                stretch = nil
            }
            if unit < 0 {
                runs.append(.literal(byte(unit)))
            } else {
                stretch = Int(unit)..<Int(unit) + 1
            }
        }
        if let stretch { runs.append(.source(stretch)) }
        return runs
    }

    // MARK: Replacing

    /// A `$NAME`, `${NAME}` or `${NAME:-default}`, with or without its braces.
    private struct Reference {
        let range: Range<Int>
        let name: String
        let fallback: Range<Int>
    }

    private mutating func interpolated(
        _ start: [Unit], of index: Int
    ) throws(DotEnvError) -> [Unit] {
        var value = start
        for _ in 0..<Self.maximumSteps {
            try spend(value.count, on: index)
            guard let reference = lastReference(in: value) else { return value }
            guard !Self.inheritedNames.contains(reference.name) else {
                throw failure(
                    .refused, "Next.js replaces this name with a built-in JavaScript property",
                    index)
            }
            var replacement = Array(value[reference.fallback])
            if replacement.isEmpty, let target = effective[ExactName(reference.name)] {
                replacement = units(of: target)
                try spend(replacement.count, on: index)
            }
            try replace(reference.range, in: &value, by: replacement, of: index)
        }
        throw failure(
            .expansionCycle,
            "the value refers to itself or to too many values, so Next.js ignores the file",
            index)
    }

    /// Returns the reference at the last `$` without a backslash before it.
    private func lastReference(in value: [Unit]) -> Reference? {
        var dollar = value.count - 1
        while dollar >= 0 {
            if byte(value[dollar]) == Byte.dollar,
                dollar == 0 || byte(value[dollar - 1]) != Byte.backslash
            {
                break
            }
            dollar -= 1
        }
        guard dollar >= 0 else { return nil }
        func at(_ place: Int) -> UInt8 { place < value.count ? byte(value[place]) : 0 }
        var end = dollar + 1
        if at(end) == Byte.leftBrace { end += 1 }
        let name = end
        while at(end).isWord { end += 1 }
        guard end > name else { return nil }
        let spelling = String(decoding: value[name..<end].map { byte($0) }, as: UTF8.self)
        var fallback = end..<end
        if at(end) == Byte.colon, at(end + 1) == 0x2D {
            var stop = end + 2
            while stop < value.count, at(stop) != Byte.rightBrace, at(stop) != Byte.backslash {
                stop += 1
            }
            fallback = end + 2..<stop
            end = stop
        }
        if at(end) == Byte.rightBrace { end += 1 }
        return Reference(range: dollar..<end, name: spelling, fallback: fallback)
    }

    /// Replaces the first occurrence of the text of `range`, which begins with `$`.
    private func replace(
        _ range: Range<Int>, in value: inout [Unit], by replacement: [Unit], of index: Int
    ) throws(DotEnvError) {
        var first = 0
        while first < range.lowerBound, !isSame(range, at: first, in: value) { first += 1 }
        let end = first + range.count
        var inserted: [Unit] = []
        var place = 0
        while place < replacement.count {
            let unit = replacement[place]
            place += 1
            guard byte(unit) == Byte.dollar, place < replacement.count else {
                inserted.append(unit)
                continue
            }
            switch byte(replacement[place]) {
            case Byte.dollar: inserted.append(unit)
            case UInt8(ascii: "&"): inserted += value[range]
            case Byte.backtick: inserted += value[..<first]
            case Byte.singleQuote: inserted += value[end...]
            default:
                inserted.append(unit)
                continue
            }
            place += 1
            try check(inserted.count, of: index)
        }
        try check(value.count - range.count + inserted.count, of: index)
        value.replaceSubrange(first..<end, with: inserted)
    }

    private func isSame(_ range: Range<Int>, at start: Int, in value: [Unit]) -> Bool {
        var place = start
        for other in range {
            guard byte(value[place]) == byte(value[other]) else { return false }
            place += 1
        }
        return true
    }

    private func resolvingEscapes(_ value: [Unit]) -> [Unit] {
        var result: [Unit] = []
        for (place, unit) in value.enumerated() {
            let isEscape =
                byte(unit) == Byte.backslash && place + 1 < value.count
                && byte(value[place + 1]) == Byte.dollar
            if !isEscape { result.append(unit) }
        }
        return result
    }

    // MARK: Limits

    private mutating func spend(_ count: Int, on index: Int) throws(DotEnvError) {
        work += count
        guard work <= maximumWork else {
            throw failure(.expansionTooLarge, "the expanded values are too long", index)
        }
    }

    private func check(_ count: Int, of index: Int) throws(DotEnvError) {
        guard count <= DotEnvExpansion.maximumValueSize else {
            throw failure(.expansionTooLarge, "the expanded value is too long", index)
        }
    }

    private func failure(
        _ code: DotEnvError.Code, _ reason: String, _ index: Int
    ) -> DotEnvError {
        let entry = file.entries[index]
        return DotEnvError(code, reason, position: entry.position, key: entry.key)
    }
}
