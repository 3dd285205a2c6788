/// What a check of every byte of a vault found.
package struct VaultInspection: Equatable, Sendable {
    /// Something that is wrong, and where.
    package struct Problem: Equatable, Sendable {
        /// Which part of the file is wrong.
        package enum Place: String, Sendable {
            /// What stands in clear: lengths, slots, public key.
            case header
            /// Names and metadata.
            case index
            /// What somebody with the root last accepted.
            case checkpoint
            /// Work that was begun, or is kept beside it.
            case journal
            /// A wrapped data key.
            case dataKey = "data-key"
            /// A sealed value.
            case value
        }

        /// Which part is wrong.
        package let place: Place
        /// What is wrong.
        package let error: VaultError
        /// The variable whose value is wrong.
        package let key: String?
        /// The version of that value.
        package let version: UInt64?
        /// Where the value begins, in bytes from the front of the file.
        package let offset: UInt64?

        /// What is wrong, without full stop.
        package var message: String { error.reason }
        /// What does not hold, in the words of the format's page.
        package var damage: VaultDamage? { error.damage }

        /// Describes a problem.
        ///
        /// - Parameter error: Of code ``VaultError/Code/damaged``.
        package init(
            _ place: Place, _ error: VaultError, key: String? = nil, version: UInt64? = nil,
            offset: UInt64? = nil
        ) {
            self.place = place
            self.error = error
            self.key = key
            self.version = version
            self.offset = offset
        }
    }

    /// The first thing that is wrong first, in the order of the format's page; empty for a whole vault.
    package internal(set) var problems: [Problem] = []
    /// Bytes of the file.
    package internal(set) var byteCount: UInt64 = 0
    /// Variables in use in the index; nil when it did not open.
    package internal(set) var variableCount: Int?
    /// Variables that were removed, whose history stays; nil when the index did not open.
    package internal(set) var removedVariableCount: Int?
    /// Versions whose sealed bytes were compared with the index.
    package internal(set) var versionCount = 0
    /// Whether every value was opened too, and not only its sealed bytes compared.
    package internal(set) var opensValues = false

    /// Makes an inspection that looked at nothing yet.
    package init() {}

    /// Adds a problem that was found before the index was open.
    package mutating func note(_ problem: Problem) {
        problems.append(problem)
    }

    /// Throws the first problem.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package func expectWhole() throws(VaultError) {
        if let first = problems.first { throw first.error }
    }
}
