extension ValueType {
    /// A longer value, in bytes, is not checked.
    static let maximumValueLength = 1 << 20

    /// Returns whether a value fits. An empty value is not set, so it fits.
    ///
    /// Reads the value where it is. Where a check needs a converted text, it is made in memory that
    /// is wiped before the return. Takes time in proportion to the length.
    package func fit(of value: RawSpan) -> ValueFit {
        guard value.byteCount > 0 else { return .fits }
        guard value.byteCount <= Self.maximumValueLength else {
            return .unchecked("it is longer than 1 MiB")
        }
        return unsafe value.withUnsafeBytes { bytes in
            unsafe ValueCheck(length: bytes.count)
                .fit(of: ValueSlice(bytes), to: self, depth: 0)
        }
    }
}

/// One check of a value, which compiles each pattern once for all elements.
final class ValueCheck {
    /// Of the whole value, which all elements share.
    private let length: Int
    private var patterns: [String: CompiledPattern] = [:]
    /// The comparisons with texts in lists of a schema that are left.
    private var comparisons = 1_000_000

    init(length: Int) { self.length = length }

    /// Returns whether a part of a value fits, which may be empty.
    func fit(of value: ValueSlice, to type: ValueType, depth: Int) -> ValueFit {
        guard depth < ValueType.maximumDepth else {
            return .unchecked("its type is nested too deeply")
        }
        let fit = checked(value, type, depth)
        guard let option = type.unusableOption else { return fit }
        return fit.combined(
            with: .unchecked("its option \(SchemaText.shown(option)) is invalid"))
    }

    private func checked(_ value: ValueSlice, _ type: ValueType, _ depth: Int) -> ValueFit {
        switch type.name {
        case .string: text(value, type)
        case .number: NumberForm.fit(of: value, to: type)
        case .boolean: BooleanForm.fit(of: value)
        case .url: url(value, type)
        case .enum: member(value, type)
        case .email: email(value, type)
        case .port: NumberForm.fit(ofPort: value, to: type)
        case .ip: address(value, type)
        case .semver:
            SemanticVersionForm.matches(value)
                ? .fits : .misfit("not a MAJOR.MINOR.PATCH version")
        case .isoDate: DateForm.matches(value) ? .fits : .misfit("not an ISO 8601 date")
        case .uuid:
            HexForm.isUUID(value) ? .fits : .misfit("not a version 0 to 5 UUID")
        case .md5: HexForm.isMD5(value) ? .fits : .misfit("not 32 lowercase hexadecimal digits")
        case .simpleObject: object(value)
        case .duration: DurationForm.fit(of: value, to: type)
        case .array: array(value, type, depth)
        case .record: record(value, type, depth)
        }
    }

    static let tooManyComparisons = ValueFit.unchecked("it has too many elements for its type")

    /// Returns whether a text may be compared with all of a list: both a list and its elements'
    /// type can be long.
    func countComparisons(_ list: [String]?) -> Bool {
        comparisons -= list?.count ?? 0
        return comparisons >= 0
    }

    /// Checks a pattern, if the type has one.
    func pattern(_ type: ValueType, _ value: ValueSlice) -> ValueFit {
        guard let text = type.text("matches"), !text.isEmpty else { return .fits }
        guard text.utf8.count <= PatternSource.maximumLength else {
            return .unchecked("its pattern is not supported")
        }
        let pattern = patterns[text] ?? CompiledPattern(text)
        patterns[text] = pattern
        switch pattern.match(value, of: length) {
        case .found: return .fits
        case .notFound: return .misfit("does not match its pattern")
        case .tooLong: return .unchecked("matching its pattern takes too long")
        case .unsupported: return .unchecked("its pattern is not supported")
        case .libraryMissing: return .unchecked("libpcre2 is not installed")
        case .notText:
            return .unchecked("its pattern cannot be matched, because the value is not valid UTF-8")
        }
    }
}
