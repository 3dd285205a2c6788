package import Sealing
package import Vault

extension ValueReader {
    /// Returns the records that together give a whole scope this value already, perhaps with more
    /// targets; nil if some target has another value or none.
    ///
    /// - Parameter records: The key's records in use.
    package func holders(
        of value: SecretSlice, in scope: Scope, among records: [Variable]
    ) throws -> [Variable]? {
        let arena = SecretArena()
        guard let holding = records.holding(scope),
            try holding.allSatisfy({ record in
                try currentValue(of: record, in: arena)?.equals(value) == true
            })
        else { return nil }
        return holding
    }

    /// Returns whether a record is known to have an empty value.
    package func isEmpty(
        _ record: Variable, in arena: SecretArena
    ) throws(VaultError) -> Bool {
        try currentValue(of: record, in: arena)?.count == 0
    }
}

extension [Variable] {
    /// The records that have any of a scope, if together they have all of it.
    package func holding(_ scope: Scope) -> [Variable]? {
        let holding = filter { $0.attributes.scope.overlaps(scope) }
        let rest = holding.reduce(scope) { $0.subtracting($1.attributes.scope) }
        return holding.isEmpty || !rest.isEmpty ? nil : holding
    }
}
