package import Vault

/// The differences between a file and the variables that a program would get from the vault.
package struct FileDifference: Equatable {
    /// The state of one key.
    package enum State: String, CaseIterable, Sendable {
        /// Only in the file: an import would add it.
        case added
        /// Only in the vault.
        case removed
        /// In both, with different values.
        case changed
        /// In both, with the same value.
        case same
        /// In both, but the vault has no value to compare.
        case unreadable
        /// In both; the values were not compared.
        case present
    }

    package struct Entry: Equatable {
        package let key: String
        package let state: State
    }

    /// Sorted by name.
    package let entries: [Entry]

    /// Returns the keys in one state.
    package func keys(_ state: State) -> [String] {
        entries.filter { $0.state == state }.map(\.key)
    }

    /// The keys that are not known to be equal on both sides.
    package var differences: [Entry] {
        entries.filter { $0.state != .same && $0.state != .present }
    }

    /// Compares the keys of a file with the records that apply in one environment.
    ///
    /// - Parameter isEqual: Returns whether the key at that index has the record's value, or nil if
    ///   the vault has none. A nil closure compares only names.
    package init(
        keys: [String], records: [Variable], isEqual: ((Int, Variable) throws -> Bool?)?
    ) throws {
        var numbers: [String: Int] = [:]
        for (number, key) in keys.enumerated() { numbers[key] = number }
        var entries: [Entry] = []
        for record in records {
            guard let number = numbers.removeValue(forKey: record.name) else {
                entries.append(Entry(key: record.name, state: .removed))
                continue
            }
            guard let isEqual else {
                entries.append(Entry(key: record.name, state: .present))
                continue
            }
            let state: State =
                switch try isEqual(number, record) {
                case true?: .same
                case false?: .changed
                case nil: .unreadable
                }
            entries.append(Entry(key: record.name, state: state))
        }
        entries += numbers.keys.map { Entry(key: $0, state: .added) }
        self.entries = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
