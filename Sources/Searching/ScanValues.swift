package import Sealing

/// The values to search for, without duplicates, and their owners.
package struct ScanValues {
    /// The variable that a value belongs to.
    package struct Owner: Equatable, Sendable {
        package let project: String
        package let key: String
        /// The version, unless it is the current one.
        package let earlierVersion: UInt64?

        package init(project: String, key: String, earlierVersion: UInt64? = nil) {
            (self.project, self.key, self.earlierVersion) = (project, key, earlierVersion)
        }
    }

    /// The owners of each value, by its number.
    package private(set) var owners: [[Owner]] = []
    /// The owners of values that would be found everywhere.
    package private(set) var leftOut: [Owner] = []
    /// The values, in the order of ``owners``.
    package private(set) var values: [SecretSlice] = []

    /// Collects values, merging equal ones.
    ///
    /// - Parameter minimum: The minimum length in bytes; shorter values are skipped.
    package init(
        _ found: [(owner: Owner, value: SecretSlice)], minimum: Int = SearchTable.shortest
    ) throws(SealingError) {
        let digests = try KeyedDigests()
        var numbers: [[UInt8]: Int] = [:]
        for (owner, whole) in found {
            let value = SearchForms.trimmed(whole)
            guard value.count >= max(minimum, SearchTable.shortest), !Self.isCommon(value) else {
                if !leftOut.contains(owner) { leftOut.append(owner) }
                continue
            }
            let digest = try value.withBytes { (bytes) throws(SealingError) in
                try digests.digest(of: bytes)
            }
            if let number = numbers[digest] {
                let isNamed = owners[number].contains {
                    $0.project == owner.project && $0.key == owner.key
                }
                if !isNamed { owners[number].append(owner) }
            } else {
                numbers[digest] = owners.count
                owners.append([owner])
                values.append(value)
            }
        }
    }

    /// Returns whether a value is likely to occur in many files: a word, a number, or few different
    /// bytes.
    static func isCommon(_ value: SecretSlice) -> Bool {
        value.withBytes { bytes in
            var (seen, letters, digits) = (Set<UInt8>(), 0, 0)
            for place in 0..<min(bytes.byteCount, 4_096) {
                let byte = bytes.byte(at: place)
                seen.insert(byte)
                if (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x5F { letters += 1 }
                if (0x30...0x39).contains(byte) || byte == 0x2E || byte == 0x3A { digits += 1 }
            }
            let count = bytes.byteCount
            return seen.count < 4 || letters == count && count < 16 || digits == count && count < 16
        }
    }
}
