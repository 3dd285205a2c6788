import DotEnv

/// One call that runs every part of `DotEnv` over untrusted bytes.
package enum DotEnvFuzzing {
    /// Reads `bytes` in every dialect, decodes, expands, merges and writes the result.
    ///
    /// - Returns: The number of variables that were read, over all dialects.
    /// - Throws: Only if the library breaks a promise, for example if written text does not read
    ///   back.
    @discardableResult
    package static func exercise(_ bytes: RawSpan) throws -> Int {
        var count = 0
        _ = DotEnvReader.detectedDialect(of: bytes)
        for dialect in DotEnvDialect.allCases {
            guard let file = try? DotEnvReader.read(bytes, as: dialect) else { continue }
            count += file.entries.count
            for entry in file.entries {
                var counter = ByteCounter()
                entry.decodeValue(in: bytes, into: &counter)
                guard counter.count == entry.decodedLength(in: bytes) else {
                    throw FuzzFinding("the length of the value changed")
                }
            }
            if let expansion = try? DotEnvExpansion(file, in: bytes) {
                for index in file.entries.indices {
                    var counter = ByteCounter()
                    expansion.expandValue(of: index, in: bytes, into: &counter)
                    guard counter.count == expansion.expandedLength(of: index) else {
                        throw FuzzFinding("the length of the expanded value changed")
                    }
                }
            }
            try write(file, bytes)
            if dialect == .dotenv || dialect == .vercelPull { try merge(bytes, dialect) }
        }
        return count
    }

    /// Writes every variable in every format that can represent it, and reads it back.
    private static func write(_ file: DotEnvFile, _ bytes: RawSpan) throws(DotEnvError) {
        for entry in file.entries.prefix(16) {
            var value = [UInt8](repeating: 0, count: entry.decodedLength(in: bytes))
            do {
                var span = value.mutableSpan
                var target = unsafe span.mutableBytes
                _ = entry.decodeValue(in: bytes, into: &target)
            }
            let lent = value
            let lend: DotEnvWriter.Lender = { _, body in unsafe body(lent.span.bytes) }
            for format in DotEnvFormat.allCases {
                let writer = DotEnvWriter(format)
                guard let length = try? writer.length([entry.key], lending: lend) else { continue }
                var memory = [UInt8](repeating: 0, count: length)
                var span = memory.mutableSpan
                var target = unsafe span.mutableBytes
                _ = try writer.writeVerified([entry.key], into: &target, lending: lend)
            }
        }
    }

    /// Merges one new and one existing name into the text.
    private static func merge(
        _ bytes: RawSpan, _ dialect: DotEnvDialect
    ) throws(DotEnvError) {
        let document = try DotEnvDocument(bytes, as: dialect)
        for index in document.file.entries.indices.prefix(64) {
            _ = document.file.comment(above: index, in: bytes)
        }
        var keys = ["ZG_FUZZ_NEW_NAME"]
        if let key = document.file.entries.first?.key, key != keys[0], key != "__proto__" {
            keys.append(key)
        }
        let value = Array("new value".utf8)
        let lend: DotEnvWriter.Lender = { _, body in unsafe body(value.span.bytes) }
        let length = try document.mergedLength(keys, from: bytes, lending: lend)
        var memory = [UInt8](repeating: 0, count: length)
        var span = memory.mutableSpan
        var target = unsafe span.mutableBytes
        do throws(DotEnvError) {
            _ = try document.mergeVerified(keys, from: bytes, into: &target, lending: lend)
        } catch {
            // An unclosed quote may include the new lines, which is refused.
            guard error.code == .notVerified || error.code == .tooLarge else { throw error }
        }
    }
}
