package import Sealing
package import Vault

extension ValueReader {
    /// Returns the record that gives a whole scope this value already, perhaps with more targets; nil
    /// without one.
    ///
    /// - Parameter records: The key's records in use.
    package func holder(
        of value: SecretSlice, in scope: Scope, among records: [Variable]
    ) throws -> Variable? {
        guard let only = records.holding(scope),
            let old = try currentValue(of: only, in: SecretArena()), old.equals(value)
        else { return nil }
        return only
    }

    /// Returns whether a record is known to have an empty value.
    package func isEmpty(
        _ record: Variable, in arena: SecretArena
    ) throws(VaultError) -> Bool {
        try currentValue(of: record, in: arena)?.count == 0
    }
}

extension [Variable] {
    /// The only record that has any of a scope, if it has all of it.
    package func holding(_ scope: Scope) -> Variable? {
        let holding = filter { $0.attributes.scope.overlaps(scope) }
        guard let only = holding.first, holding.count == 1,
            scope.subtracting(only.attributes.scope).isEmpty
        else { return nil }
        return only
    }
}
