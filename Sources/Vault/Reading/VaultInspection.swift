/// The result of checking every byte of a vault.
package struct VaultInspection: Equatable, Sendable {
    /// A problem and its location.
    package struct Problem: Equatable, Sendable {
        /// The part of the file.
        package enum Place: String, Sendable {
            /// The cleartext part: lengths, slots, public key.
            case header
            case index
            case dataKey = "data-key"
            case value
        }

        package let place: Place
        package let error: VaultError
        /// The variable with the damaged value.
        package let key: String?
        package let version: UInt64?
        /// The file offset of the value.
        package let offset: UInt64?

        /// The description, without a full stop.
        package var message: String { error.reason }
        /// The kind of damage, as named in docs/vault-format.md.
        package var damage: VaultDamage? { error.damage }

        /// - Parameter error: With code ``VaultError/Code/damaged``.
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

    /// Sorted by the order of checks in docs/vault-format.md; empty for an intact vault.
    package internal(set) var problems: [Problem] = []
    /// The size of the file.
    package internal(set) var byteCount: UInt64 = 0
    /// Variables in use; nil if the index did not open.
    package internal(set) var variableCount: Int?
    /// Removed variables whose history is kept; nil if the index did not open.
    package internal(set) var removedVariableCount: Int?
    /// Versions whose hash was compared with the index.
    package internal(set) var versionCount = 0
    /// Whether every value was opened, rather than only its hash compared.
    package internal(set) var opensValues = false

    package init() {}

    /// Adds a problem found before the index was opened.
    package mutating func note(_ problem: Problem) {
        problems.append(problem)
    }

    /// - Throws: ``VaultError/Code/damaged`` with the first problem.
    package func throwFirstProblem() throws(VaultError) {
        if let first = problems.first { throw first.error }
    }
}
