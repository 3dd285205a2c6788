package import Vault

/// The differences between a file and the variables that a program would get from the vault.
package struct FileDifference: Equatable {
    package struct Entry: Equatable {
        package let key: String
        package let state: DifferenceState
    }

    /// Sorted by name.
    package let entries: [Entry]

    /// Returns the keys in one state.
    package func keys(_ state: DifferenceState) -> [String] {
        entries.filter { $0.state == state }.map(\.key)
    }

    /// The keys that are not known to be equal on both sides.
    package var differences: [Entry] { entries.filter { !$0.state.isNoDifference } }

    /// Compares the keys of a file with the records that apply in one environment.
    ///
    /// - Parameter isEqual: Returns whether the key at that index has the record's value, or nil if
    ///   the vault has none. A nil closure compares only names.
    package init(
        keys: [String], records: [Variable], isEqual: ((Int, Variable) throws -> Bool?)?
    ) throws {
        var numbers: [String: Int] = [:]
        for (number, key) in keys.enumerated() { numbers[key] = number }
        var entries = try records.map { record in
            guard let number = numbers.removeValue(forKey: record.name) else {
                return Entry(key: record.name, state: .removed)
            }
            guard let isEqual else { return Entry(key: record.name, state: .present) }
            let state: DifferenceState =
                switch try isEqual(number, record) {
                case true?: .same
                case false?: .changed
                case nil: .unreadable
                }
            return Entry(key: record.name, state: state)
        }
        entries += numbers.keys.map { Entry(key: $0, state: .added) }
        self.entries = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
