extension DotEnvWriter {
    /// Reads a text in this writer's format back and compares it with the expected variables.
    ///
    /// - Throws: ``DotEnvError`` with the code `notVerified`, and the name of the affected
    ///   variable.
    package func verify(
        _ text: RawSpan, holds keys: [String], lending values: Lender
    ) throws(DotEnvError) {
        let dialect: DotEnvDialect? =
            switch format {
            case .dotenv: self.dialect ?? .dotenv
            case .shell: .shell
            case .docker: .docker
            case .systemd: .systemd
            case .json, .yaml, .k8s: nil
            }
        if let dialect {
            try verify(text, as: dialect, holds: keys, lending: values)
        } else {
            try verifyStructure(text, holds: keys, lending: values)
        }
    }

    private func verify(
        _ source: RawSpan, as dialect: DotEnvDialect, holds keys: [String],
        lending values: Lender
    ) throws(DotEnvError) {
        let file: DotEnvFile
        do throws(DotEnvError) {
            file = try DotEnvReader.read(source, as: dialect)
        } catch {
            throw DotEnvError(.notVerified, "the written text cannot be read back: \(error.reason)")
        }
        guard file.entries.count == keys.count else {
            throw DotEnvError(
                .notVerified, "the written text has different variables when read back")
        }
        let unportable = Set(unportableKeys(keys, lending: values))
        // After a name that it rejects, a parser may misread lines of the value.
        let expectsNamelessStatement = !unportable.isEmpty || !keys.allSatisfy(\.isPortableName)
        if format == .dotenv, self.dialect == nil,
            let difference = file.diagnostics.first(where: {
                isUnexpected($0, besides: unportable, expectsNamelessStatement)
            })
        {
            // A parser that does not see the end of a value misreads the variables after it.
            let cause = keys.prefix { $0 != difference.key }.last(where: unportable.contains)
            throw DotEnvError(
                .notVerified, "parsers would disagree about the written text",
                key: difference.key == nil ? nil : cause ?? difference.key)
        }
        let expansion = dialect.expands ? try DotEnvExpansion(file, in: source) : nil
        for (index, entry) in file.entries.enumerated() {
            guard ExactName(entry.key) == ExactName(keys[index]) else {
                throw DotEnvError(
                    .notVerified, "the name is different when read back", key: keys[index])
            }
            var isEqual = false
            values(index) { bytes in
                if let expansion {
                    var sink = bytes.withText { ComparingSink($0) }
                    expansion.expandValue(of: index, in: source, into: &sink)
                    isEqual = sink.end == bytes.byteCount
                } else {
                    isEqual = entry.decodes(in: source, to: bytes)
                }
            }
            guard isEqual else {
                throw DotEnvError(
                    .notVerified, "the value is different when read back", key: entry.key)
            }
        }
    }

    /// Returns whether parsers disagree about the written text for an unexpected reason, other than
    /// a value without a portable form or a name that some of them reject.
    private func isUnexpected(
        _ diagnostic: DotEnvDiagnostic, besides unportable: Set<String>,
        _ expectsNamelessStatement: Bool
    ) -> Bool {
        guard diagnostic.code.isDisagreement else { return false }
        guard let key = diagnostic.key else { return !expectsNamelessStatement }
        let isOwn =
            diagnostic.code == .differsShell && WritingRules.shellReservedNames.contains(key)
        return key.isPortableName && !unportable.contains(key) && !isOwn
    }

    /// Compares a text of `json`, `yaml` or `k8s` byte by byte.
    private func verifyStructure(
        _ source: RawSpan, holds keys: [String], lending values: Lender
    ) throws(DotEnvError) {
        try source.withText { (text) throws(DotEnvError) in
            var head = ComparingSink(text)
            begin(isEmpty: keys.isEmpty, into: &head)
            var index: Int? = head.end
            for (number, key) in keys.enumerated() {
                let start = index
                index = nil
                values(number) { bytes in
                    guard let start else { return }
                    index = bytes.withText { value in
                        pairEnd(text, at: start, key, value, isLast: number == keys.count - 1)
                    }
                }
                guard index != nil else {
                    throw DotEnvError(
                        .notVerified, "the variable is different when read back", key: key)
                }
            }
            var tail = ComparingSink(text, from: index)
            end(isEmpty: keys.isEmpty, into: &tail)
            guard tail.end == text.count else {
                throw DotEnvError(.notVerified, "the text is different when read back")
            }
        }
    }

    /// Returns the index after a pair, or nil if it differs.
    private func pairEnd(
        _ text: SourceText, at start: Int, _ key: String, _ value: SourceText, isLast: Bool
    ) -> Int? {
        let indent = format == .yaml ? 0 : 2
        for offset in 0..<indent where text[start + offset] != Byte.space { return nil }
        let afterKey = key.withText { key in
            QuotedString.end(text, at: start + indent, ifEqualTo: key)
        }
        guard let afterKey, text.has(": ", at: afterKey) else { return nil }
        if format == .k8s {
            guard text[afterKey + 2] == Byte.doubleQuote,
                let end = Base64Text.end(text, at: afterKey + 3, ifEqualTo: value),
                text.has("\"\n", at: end)
            else { return nil }
            return end + 2
        }
        guard let end = QuotedString.end(text, at: afterKey + 2, ifEqualTo: value) else {
            return nil
        }
        let needsComma = format == .json && !isLast
        guard text.has(needsComma ? ",\n" : "\n", at: end) else { return nil }
        return end + (needsComma ? 2 : 1)
    }
}

/// A sink that compares its input with a text.
private struct ComparingSink: ByteSink {
    private let text: SourceText
    /// The index after the equal part; nil after a difference.
    private(set) var end: Int?

    init(_ text: SourceText, from start: Int? = 0) {
        self.text = text
        end = start
    }

    mutating func append(_ byte: UInt8) {
        guard let index = end else { return }
        end = index < text.count && text[index] == byte ? index + 1 : nil
    }

    mutating func append(contentsOf bytes: RawSpan) {
        bytes.withText { other in
            for index in 0..<other.count { append(other[index]) }
        }
    }
}
