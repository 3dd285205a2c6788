/// Replaces `$NAME`, `${NAME}` and `${NAME:-default}` in values by other values of the same text,
/// like dotenv-expand.
///
/// The environment is never used. A name that is not set and has no default stays and is reported,
/// where dotenv-expand inserts nothing. Single quotes protect only in `compose`, since
/// dotenv-expand does not see them; in `shell` and `systemd` nothing is replaced. `\$` stays
/// without its backslash. The text after `:-` or `-` is used if the name is unset or empty, the
/// text after `:+` or `+` if it is neither; both may contain references. `next` has its own rules:
/// `NextExpansion`.
package struct DotEnvExpansion: Sendable {
    /// The longest expanded value, in bytes.
    package static let maximumValueSize = 1 << 20
    /// The most bytes of all expanded values.
    package static let maximumTotalSize = 32 << 20
    /// The deepest nesting of references and defaults.
    package static let maximumDepth = 64
    /// The most bytes read, summed over every value that a value refers to.
    private static let maximumWork = 64 << 20

    package let file: DotEnvFile
    /// References that stay because their name is not set, in the order of the text.
    package private(set) var diagnostics: [DotEnvDiagnostic] = []
    /// The index of each name's effective entry.
    let effective: [ExactName: Int]
    /// The result of measuring each value; nil until it is known.
    private var costs: [Cost?]
    /// The expanded values of `next`.
    private var next: [Int: [ValueRun]] = [:]

    fileprivate struct Cost {
        var length = 0
        /// Bytes read while the value is written.
        var work = 0
        /// The nesting of references and defaults.
        var height = 0
    }

    /// Checks that every value can be expanded within the limits.
    ///
    /// - Throws: ``DotEnvError`` with `expansionCycle` or `expansionTooLarge` and the name.
    package init(_ file: DotEnvFile, in source: RawSpan) throws(DotEnvError) {
        self.file = file
        effective = file.lastIndices
        costs = [Cost?](repeating: nil, count: file.entries.count)
        var total = Cost()
        if file.dialect == .next {
            let result = try source.withText { [effective] (text) throws(DotEnvError) in
                try NextExpansion(file, text, effective: effective)
            }
            next = result.values
            for (index, length) in result.lengths { costs[index] = Cost(length: length) }
        }
        for index in file.entries.indices {
            var path: [Int] = []
            let cost = try source.withText { (text) throws(DotEnvError) -> Cost in
                try measure(index, text, &path, depth: 0)
            }
            total.length += cost.length
            total.work += cost.work
            guard total.length <= Self.maximumTotalSize, total.work <= Self.maximumWork else {
                throw failure(.expansionTooLarge, "the expanded values are too long", index)
            }
        }
    }

    private func failure(
        _ code: DotEnvError.Code, _ reason: String, _ index: Int
    ) -> DotEnvError {
        let entry = file.entries[index]
        return DotEnvError(code, reason, position: entry.position, key: entry.key)
    }

    /// Returns the length in bytes of an expanded value.
    ///
    /// - Parameter index: The index in `file.entries`.
    package func expandedLength(of index: Int) -> Int {
        costs.indices.contains(index) ? costs[index]?.length ?? 0 : 0
    }

    /// Writes an expanded value to `sink`.
    ///
    /// - Parameter index: The index in `file.entries`.
    package func expandValue(
        of index: Int, in source: RawSpan, into sink: inout some ByteSink & ~Copyable
    ) {
        guard file.entries.indices.contains(index) else { return }
        source.withText { emit(index, $0, into: &sink, depth: 0) }
    }

    /// Writes an expanded value to `target`. Returns the number of bytes, or nil if `target` is too
    /// short; it may then be partly written.
    package func expandValue(
        of index: Int, in source: RawSpan, into target: inout MutableRawSpan
    ) -> Int? {
        FixedSink.fill(&target) { expandValue(of: index, in: source, into: &$0) }
    }

    // MARK: Measuring

    private mutating func measure(
        _ index: Int, _ text: SourceText, _ path: inout [Int], depth: Int
    ) throws(DotEnvError) -> Cost {
        if let cost = costs[index] { return cost }
        guard !path.contains(index) else {
            throw failure(.expansionCycle, "the value refers to itself", index)
        }
        path.append(index)
        let entry = file.entries[index]
        var cost = Cost()
        if isLiteral(entry, text) {
            text.decode(entry.valueRange, entry.encoding, into: &cost)
        } else {
            var scanner = ReferenceScanner(
                DecodedBytes(text, entry.valueRange, entry.encoding), count: .max)
            try measure(&scanner, of: index, text, &path, &cost, depth: depth, level: 0)
        }
        path.removeLast()
        costs[index] = cost
        return cost
    }

    private mutating func measure(
        _ scanner: inout ReferenceScanner, of index: Int, _ text: SourceText,
        _ path: inout [Int], _ cost: inout Cost, depth: Int, level: Int
    ) throws(DotEnvError) {
        cost.height = max(cost.height, level)
        guard depth <= Self.maximumDepth else { throw tooDeep(index) }
        while let piece = scanner.next() {
            switch piece {
            case .byte:
                cost.length += 1
            case .reference(let reference):
                var target = Cost()
                if let entry = effective[ExactName(reference.name)] {
                    target = try measure(entry, text, &path, depth: depth + 1)
                    cost.height = max(cost.height, level + 1 + target.height)
                    if !reference.isAlternative {
                        cost.length += target.length
                        // An empty result adds nothing to the text, however long it took to
                        // compute.
                        if target.length > 0 { cost.work += target.work }
                    }
                }
                let isWanted = (target.length > 0) == reference.isAlternative
                if isWanted, var fallback = reference.fallback {
                    try measure(
                        &fallback, of: index, text, &path, &cost, depth: depth + 1,
                        level: level + 1)
                } else if reference.isAlternative {
                    break
                } else if effective[ExactName(reference.name)] == nil {
                    cost.length += reference.count
                    note(index)
                }
            }
            guard cost.length <= Self.maximumValueSize,
                cost.work + scanner.work <= Self.maximumWork
            else {
                throw failure(.expansionTooLarge, "the expanded value is too long", index)
            }
            // Costs are cached, so the height may exceed the depth of this walk.
            guard cost.height <= Self.maximumDepth else { throw tooDeep(index) }
        }
        cost.work += scanner.work
        if scanner.hasUnresolvedReference { note(index) }
    }

    private func tooDeep(_ index: Int) -> DotEnvError {
        failure(.expansionTooLarge, "references between values are nested too deeply", index)
    }

    private mutating func note(_ index: Int) {
        guard diagnostics.count < DotEnvReader.maximumDiagnostics else { return }
        let entry = file.entries[index]
        if let last = diagnostics.last, last.position == entry.position { return }
        diagnostics.append(
            DotEnvDiagnostic(
                position: entry.position, key: entry.key.isPlausibleName ? entry.key : nil,
                code: .unexpanded))
    }

    // MARK: Writing

    private func emit(
        _ index: Int, _ text: SourceText, into sink: inout some ByteSink & ~Copyable, depth: Int
    ) {
        let entry = file.entries[index]
        if let runs = next[index] {
            for run in runs {
                switch run {
                case .source(let range): text.copy(range, into: &sink)
                case .literal(let byte): sink.append(byte)
                }
            }
            return
        }
        if isLiteral(entry, text) {
            text.decode(entry.valueRange, entry.encoding, into: &sink)
            return
        }
        var scanner = ReferenceScanner(
            DecodedBytes(text, entry.valueRange, entry.encoding), count: .max)
        emit(&scanner, text, into: &sink, depth: depth)
    }

    private func emit(
        _ scanner: inout ReferenceScanner, _ text: SourceText,
        into sink: inout some ByteSink & ~Copyable, depth: Int
    ) {
        // Measuring has refused deeper nesting, unless this is another source.
        guard depth <= Self.maximumDepth else { return }
        while let piece = scanner.next() {
            switch piece {
            case .byte(let byte):
                sink.append(byte)
            case .reference(let reference):
                let target = effective[ExactName(reference.name)]
                if let target, expandedLength(of: target) > 0 {
                    if !reference.isAlternative {
                        emit(target, text, into: &sink, depth: depth + 1)
                    } else if var fallback = reference.fallback {
                        emit(&fallback, text, into: &sink, depth: depth + 1)
                    }
                } else if reference.isAlternative {
                    continue
                } else if var fallback = reference.fallback {
                    emit(&fallback, text, into: &sink, depth: depth + 1)
                } else if target == nil {
                    var spelling = reference.spelling
                    for _ in 0..<reference.count {
                        if let byte = spelling.next() { sink.append(byte) }
                    }
                }
            }
        }
    }

    /// Whether the value contains nothing to replace.
    private func isLiteral(_ entry: DotEnvEntry, _ text: SourceText) -> Bool {
        switch file.dialect {
        case .shell, .systemd, .next, .json, .yaml: return true
        case .compose: return text[entry.valueRange.lowerBound - 1] == Byte.singleQuote
        case .dotenv, .portable, .vercelPull, .node, .docker: return false
        }
    }
}

extension DotEnvExpansion.Cost: ByteSink {
    mutating func append(_ byte: UInt8) {
        length += 1
        work += 1
    }

    mutating func append(contentsOf bytes: RawSpan) {
        length += bytes.byteCount
        work += bytes.byteCount
    }
}
