/// Writes variables in any of the formats.
///
/// The values stay with the caller: a closure lends each value by its index. It may be called
/// several times for one value.
package struct DotEnvWriter {
    /// Calls its argument exactly once with the value of an index.
    package typealias Lender = (Int, (RawSpan) -> Void) -> Void

    package let format: DotEnvFormat
    /// The name of the Secret in `k8s`: lowercase letters, digits, `-` and `.`.
    package let secretName: String
    /// The parser that `dotenv` is written for; nil for as many as possible. Values without a
    /// common form are then written for motdotla/dotenv.
    package let dialect: DotEnvDialect?

    /// Dialects that a `.env` text can be written for.
    package static let writableDialects: [DotEnvDialect] = [
        .portable, .dotenv, .next, .node, .compose,
    ]

    package init(
        _ format: DotEnvFormat, for dialect: DotEnvDialect? = nil, secretName: String = "env"
    ) {
        self.format = format
        self.dialect = dialect
        self.secretName = secretName
    }

    /// Returns the length in bytes of what ``write(_:into:lending:)`` writes.
    ///
    /// - Throws: As ``write(_:into:lending:)``.
    package func length(_ keys: [String], lending values: Lender) throws(DotEnvError) -> Int {
        var counter = ByteCounter()
        try write(keys, into: &counter, lending: values)
        return counter.count
    }

    /// Returns the names whose values some parser of `.env` files reads differently from
    /// motdotla/dotenv in any form, in the given order; none for another format or for one parser.
    package func unportableKeys(_ keys: [String], lending values: Lender) -> [String] {
        guard format == .dotenv, dialect == nil else { return [] }
        var unportable: [String] = []
        for (index, key) in keys.enumerated() {
            var isPortable = true
            values(index) { bytes in
                isPortable = bytes.withText { WritingRules(key: key, value: $0).isPortable }
            }
            if !isPortable { unportable.append(key) }
        }
        return unportable
    }

    /// Returns an error for each variable that the format or the parser cannot represent, in the
    /// given order.
    package func refusals(_ keys: [String], lending values: Lender) -> [DotEnvError] {
        var refusals: [DotEnvError] = []
        for (index, key) in keys.enumerated() {
            values(index) { bytes in
                let rules = bytes.withText { WritingRules(key: key, value: $0) }
                do throws(DotEnvError) {
                    try rules.check(format, dialect)
                } catch {
                    refusals.append(error)
                }
            }
        }
        return refusals
    }

    /// Writes the variables in the given order, without verification.
    ///
    /// - Throws: ``DotEnvError`` with the code `unwritableName` or `unwritableValue` and the
    ///   formats that can represent the variable, or `duplicateKey`. Nothing was written then,
    ///   unless a value changed between two calls of the closure.
    package func write(
        _ keys: [String], into sink: inout some ByteSink & ~Copyable, lending values: Lender
    ) throws(DotEnvError) {
        try check(keys, lending: values)
        begin(isEmpty: keys.isEmpty, into: &sink)
        for (index, key) in keys.enumerated() {
            // The closure borrows the sink only for the call.
            let isLast = index == keys.count - 1
            values(index) { bytes in
                bytes.withText { write(key, $0, isLast: isLast, into: &sink) }
            }
        }
        end(isEmpty: keys.isEmpty, into: &sink)
    }

    /// Writes the variables to the front of `target`, reads them back and compares.
    ///
    /// - Parameter target: At least ``length(_:lending:)`` bytes.
    /// - Returns: The number of bytes written.
    /// - Throws: As ``write(_:into:lending:)``, and `notVerified` if the text does not fit or reads
    ///   back differently. The caller must then wipe `target`.
    package func writeVerified(
        _ keys: [String], into target: inout MutableRawSpan, lending values: Lender
    ) throws(DotEnvError) -> Int {
        let count = try FixedSink.fill(&target) { (sink) throws(DotEnvError) in
            try write(keys, into: &sink, lending: values)
        }
        guard let count else {
            throw DotEnvError(.notVerified, "the text does not fit in its buffer")
        }
        try verify(target.bytes.extracting(first: count), holds: keys, lending: values)
        return count
    }

    /// Checks every pair before the first byte is written.
    private func check(_ keys: [String], lending values: Lender) throws(DotEnvError) {
        var seen = Set<ExactName>(minimumCapacity: keys.count)
        var total = 0
        for (index, key) in keys.enumerated() {
            guard seen.insert(ExactName(key)).inserted else {
                throw DotEnvError(.duplicateKey, "the variable is set twice", key: key)
            }
            var rules: WritingRules?
            values(index) { bytes in
                rules = bytes.withText { WritingRules(key: key, value: $0) }
                total += bytes.byteCount
            }
            guard let rules else {
                throw DotEnvError(.notVerified, "the value was not provided", key: key)
            }
            try rules.check(format, dialect)
        }
        guard format == .k8s else { return }
        guard total <= WritingRules.secretSizeLimit else {
            throw DotEnvError(
                .tooLarge, "Kubernetes allows at most 1 MiB of values in one Secret")
        }
        guard isSecretName else {
            throw DotEnvError(
                .unwritableName,
                "a Secret's name may contain only lowercase letters, digits, - and .",
                key: secretName
            )
        }
    }

    private var isSecretName: Bool {
        let labels = secretName.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return secretName.utf8.count <= 253
            && labels.allSatisfy { label in
                guard let first = label.first, let last = label.last else { return false }
                return first != 0x2D && last != 0x2D
                    && label.allSatisfy {
                        $0 == 0x2D || ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x7A)
                    }
            }
    }
}
