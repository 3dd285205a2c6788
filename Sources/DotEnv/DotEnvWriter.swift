/// Writes variables in any of the formats.
///
/// The values stay where the caller holds them: each is lent for the moment by a closure that is
/// given its index and passes its bytes on. It may be called several times for one value.
package struct DotEnvWriter {
    /// Lends the value with an index to what it is given, which must be called once.
    package typealias Lender = (Int, (RawSpan) -> Void) -> Void

    /// What is written.
    package let format: DotEnvFormat
    /// The name of the Secret in `k8s`: lower-case letters, digits, `-` and `.`.
    package let secretName: String
    /// The reader that `dotenv` is written for; nil for as many as possible, with what has no form that
    /// all take alike written for motdotla/dotenv.
    package let dialect: DotEnvDialect?

    /// Dialects that a `.env` text can be written for.
    package static let writableDialects: [DotEnvDialect] = [
        .portable, .dotenv, .next, .node, .compose,
    ]

    /// Makes a writer.
    package init(
        _ format: DotEnvFormat, for dialect: DotEnvDialect? = nil, secretName: String = "env"
    ) {
        self.format = format
        self.dialect = dialect
        self.secretName = secretName
    }

    /// The length in bytes of what ``write(_:into:lending:)`` writes.
    ///
    /// - Throws: As ``write(_:into:lending:)``.
    package func length(_ keys: [String], lending values: Lender) throws(DotEnvError) -> Int {
        var counter = ByteCounter()
        try write(keys, into: &counter, lending: values)
        return counter.count
    }

    /// The names whose values some reader of `.env` files takes in another way than motdotla/dotenv,
    /// however they are written, in the order given; none where another format or one reader is meant.
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

    /// Writes the variables in the order given, without proof that they can be read back.
    ///
    /// - Throws: ``DotEnvError`` with the code `unwritableName` or `unwritableValue` and the formats
    ///   that can carry the variable, or `duplicateKey`. Nothing was written then, unless the value
    ///   changed between two loans.
    package func write(
        _ keys: [String], into sink: inout some ByteSink & ~Copyable, lending values: Lender
    ) throws(DotEnvError) {
        try check(keys, lending: values)
        begin(isEmpty: keys.isEmpty, into: &sink)
        for (index, key) in keys.enumerated() {
            // The closure borrows the sink only for the loan.
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
    /// - Throws: As ``write(_:into:lending:)``, and `notVerified` if the text does not read back
    ///   as exactly these variables or does not fit. `target` then holds bytes to be wiped.
    package func writeVerified(
        _ keys: [String], into target: inout MutableRawSpan, lending values: Lender
    ) throws(DotEnvError) -> Int {
        let result: Result<Int?, DotEnvError> = unsafe target.withUnsafeMutableBytes { memory in
            var sink = unsafe FixedSink(memory)
            do throws(DotEnvError) {
                try write(keys, into: &sink, lending: values)
            } catch {
                return .failure(error)
            }
            return .success(sink.overflowed ? nil : sink.count)
        }
        guard let count = try result.get() else {
            throw DotEnvError(.notVerified, "the text is longer than the memory for it")
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
                throw DotEnvError(.duplicateKey, "there are two values", key: key)
            }
            var rules: WritingRules?
            values(index) { bytes in
                rules = bytes.withText { WritingRules(key: key, value: $0) }
                total += bytes.byteCount
            }
            guard let rules else {
                throw DotEnvError(.notVerified, "the value was not lent", key: key)
            }
            try rules.check(format, dialect)
        }
        guard format == .k8s else { return }
        guard total <= WritingRules.secretSizeLimit else {
            throw DotEnvError(
                .tooLarge, "Kubernetes takes at most 1 MiB of values in one Secret")
        }
        guard isSecretName else {
            throw DotEnvError(
                .unwritableName,
                "a Secret is named with lower-case letters, digits, - and .", key: secretName)
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
