/// A text whose values can be replaced while everything else stays.
///
/// Only the bytes of a replaced value change; new variables are appended. The document contains no
/// values, so the caller lends the text for each call.
package struct DotEnvDocument: Sendable {
    /// The dialect is `dotenv` or `vercel-pull`.
    package let file: DotEnvFile
    /// The index of the effective entry of each name: the last one.
    private let effective: [ExactName: Int]

    /// - Throws: As ``DotEnvReader/read(_:as:diagnoses:)``; `refused` for a dialect that cannot be rewritten.
    package init(
        _ source: RawSpan, as dialect: DotEnvDialect = .dotenv
    ) throws(DotEnvError) {
        guard dialect == .dotenv || dialect == .vercelPull else {
            throw DotEnvError(.refused, "only dotenv text can be rewritten in place")
        }
        file = try DotEnvReader.read(source, as: dialect)
        effective = file.lastIndices
    }

    /// Returns the effective entry of a name, or nil.
    package func effectiveEntry(of key: String) -> DotEnvEntry? {
        effective[ExactName(key)].map { file.entries[$0] }
    }

    /// Returns the length in bytes of what ``merge(_:from:into:lending:)`` writes.
    ///
    /// - Throws: As ``merge(_:from:into:lending:)``.
    package func mergedLength(
        _ keys: [String], from source: RawSpan, lending values: DotEnvWriter.Lender
    ) throws(DotEnvError) -> Int {
        var counter = ByteCounter()
        try merge(keys, from: source, into: &counter, lending: values)
        return counter.count
    }

    /// Writes the text with the values of `keys` replaced, or added at its end.
    ///
    /// An unchanged value keeps its bytes. Of a repeated name the last value is replaced. Other
    /// names, comments, blank lines and line ends stay.
    ///
    /// - Throws: ``DotEnvError`` with `unwritableName`, `unwritableValue` or `duplicateKey`.
    package func merge(
        _ keys: [String], from source: RawSpan, into sink: inout some ByteSink & ~Copyable,
        lending values: DotEnvWriter.Lender
    ) throws(DotEnvError) {
        let plan = try plan(keys, from: source, lending: values)
        source.withText { text in
            var index = 0
            for step in plan.replacements {
                let entry = file.entries[step.entry]
                text.copy(index..<entry.literalRange.lowerBound, into: &sink)
                // A value on its own line belongs to the name above only if it is quoted.
                let line = text.lineBreak(
                    from: entry.keyRange.upperBound, to: entry.literalRange.lowerBound)
                values(step.key) { bytes in
                    bytes.withText {
                        DotEnvWriter.writeLine(
                            keys[step.key], $0, into: &sink,
                            quotesAlways: line < entry.literalRange.lowerBound)
                    }
                }
                index = entry.literalRange.upperBound
                // Some parsers keep a # that touches a bare value.
                if text[index] == Byte.hash { sink.append(Byte.space) }
            }
            text.copy(index..<text.count, into: &sink)
            guard !plan.additions.isEmpty else { return }
            let lineBreak = text.firstIndex(of: Byte.lineFeed, from: 0, to: text.count)
            let usesReturns = lineBreak > 0 && text[lineBreak - 1] == Byte.carriageReturn
            func endLine() {
                if usesReturns { sink.append(Byte.carriageReturn) }
                sink.append(Byte.lineFeed)
            }
            let last = text[text.count - 1]
            let isEmpty = text.count == 0 || (text.count == 3 && text.has("\u{FEFF}", at: 0))
            if !isEmpty, last != Byte.lineFeed, last != Byte.carriageReturn { endLine() }
            for number in plan.additions {
                sink.append(name: keys[number])
                sink.append(Byte.equals)
                values(number) { bytes in
                    bytes.withText {
                        DotEnvWriter.writeLine(keys[number], $0, into: &sink)
                    }
                }
                endLine()
            }
        }
    }

    private struct Plan {
        /// In the order of the text.
        var replacements: [(entry: Int, key: Int)] = []
        var additions: [Int] = []
    }

    private func plan(
        _ keys: [String], from source: RawSpan, lending values: DotEnvWriter.Lender
    ) throws(DotEnvError) -> Plan {
        var plan = Plan()
        var seen = Set<ExactName>(minimumCapacity: keys.count)
        for (number, key) in keys.enumerated() {
            guard seen.insert(ExactName(key)).inserted else {
                throw DotEnvError(.duplicateKey, "the variable is set twice", key: key)
            }
            let entry = effective[ExactName(key)]
            var rules: WritingRules?
            var isKept = false
            values(number) { bytes in
                if let entry { isKept = file.entries[entry].decodes(in: source, to: bytes) }
                rules = bytes.withText { WritingRules(key: key, value: $0) }
            }
            if isKept { continue }
            guard let rules else {
                throw DotEnvError(.notVerified, "the value was not provided", key: key)
            }
            try rules.check(.dotenv)
            if let entry {
                plan.replacements.append((entry, number))
            } else {
                plan.additions.append(number)
            }
        }
        plan.replacements.sort { $0.entry < $1.entry }
        return plan
    }

    /// Merges into the caller's memory, reads the result back and compares every variable.
    ///
    /// - Parameter target: At least ``mergedLength(_:from:lending:)`` bytes.
    /// - Returns: The number of bytes written.
    /// - Throws: As ``merge(_:from:into:lending:)``, and `notVerified` if the new text reads back
    ///   differently, for example because an unclosed quote would include the new lines. The caller
    ///   must then wipe `target`.
    package func mergeVerified(
        _ keys: [String], from source: RawSpan, into target: inout MutableRawSpan,
        lending values: DotEnvWriter.Lender
    ) throws(DotEnvError) -> Int {
        let count = try FixedSink.fill(&target) { (sink) throws(DotEnvError) in
            try merge(keys, from: source, into: &sink, lending: values)
        }
        guard let count else {
            throw DotEnvError(.notVerified, "the text does not fit in its buffer")
        }
        try verify(
            target.bytes.extracting(first: count), keys, from: source, lending: values)
        return count
    }

    private func verify(
        _ merged: RawSpan, _ keys: [String], from source: RawSpan,
        lending values: DotEnvWriter.Lender
    ) throws(DotEnvError) {
        let result = try DotEnvReader.read(merged, as: file.dialect)
        var numbers: [ExactName: Int] = [:]
        for (number, key) in keys.enumerated() { numbers[ExactName(key)] = number }
        let added = keys.filter { effective[ExactName($0)] == nil }
        guard result.entries.count == file.entries.count + added.count else {
            throw DotEnvError(
                .notVerified, "the merged text has different variables when read back")
        }
        for (index, entry) in result.entries.enumerated() {
            let isOld = index < file.entries.count
            let key = isOld ? file.entries[index].key : added[index - file.entries.count]
            var isEqual = false
            if let number = numbers[ExactName(key)], !isOld || effective[ExactName(key)] == index {
                values(number) { isEqual = entry.decodes(in: merged, to: $0) }
            } else if isOld {
                let old = file.entries[index]
                isEqual = source.withText { before in
                    merged.withText { after in
                        DecodedBytes(before, old.valueRange, old.encoding)
                            .elementsEqual(DecodedBytes(after, entry.valueRange, entry.encoding))
                    }
                }
            }
            guard ExactName(entry.key) == ExactName(key), isEqual else {
                throw DotEnvError(
                    .notVerified, "the merged text is different when read back", key: key)
            }
        }
    }
}
