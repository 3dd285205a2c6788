package import Vault

/// How what a file sets stands against what a program would get from the vault, key by key.
package struct FileDifference: Equatable {
    /// How one key stands.
    package enum State: String, CaseIterable, Sendable {
        /// Only the file has it: an import would add it.
        case added
        /// Only the vault has it.
        case removed
        /// Both have it, with different values.
        case changed
        /// Both have it, with one value.
        case same
        /// Both have it, and the vault holds no value to compare.
        case unreadable
        /// Both have it, and values were not looked at.
        case present
    }

    /// One key.
    package struct Entry: Equatable {
        /// The key.
        package let key: String
        /// How it stands.
        package let state: State
    }

    /// By name.
    package let entries: [Entry]

    /// The keys of one state.
    package func keys(_ state: State) -> [String] {
        entries.filter { $0.state == state }.map(\.key)
    }

    /// Keys that are not known to be alike on both sides.
    package var differences: [Entry] {
        entries.filter { $0.state != .same && $0.state != .present }
    }

    /// Compares the keys of a file with the records that apply in one place.
    ///
    /// - Parameter isEqual: Whether the key with that number has the value that the record holds, nil
    ///   where the vault holds none. A missing closure compares names alone.
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
