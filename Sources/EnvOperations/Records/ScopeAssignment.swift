package import Vault

/// What happens to the records of one key so that one of them holds exactly a given scope.
///
/// The named targets leave the records that hold them; those keep the rest, and their values. A
/// record that already has the scope keeps its id and history. A record that would be left without
/// any target becomes the one with the new scope, so that its history and its platform record live
/// on; further ones of that kind are removed.
package struct ScopeAssignment: Equatable {
    /// The record that takes the scope: one of the key's, or a new one for nil.
    package let record: Identifier?
    /// Records that lose a part of their scope, with what is left.
    package let narrowed: [Narrowing]
    /// Records that lose all of it.
    package let removed: [Identifier]

    /// A record and the scope it keeps.
    package struct Narrowing: Equatable {
        /// The record.
        package let record: Identifier
        /// What it keeps.
        package let scope: Scope
    }

    /// Plans the assignment of `scope` among the records in use of one key.
    package init(of scope: Scope, among records: [Variable]) {
        if let exact = records.first(where: { $0.attributes.scope == scope }) {
            self.init(record: exact.id, narrowed: [], removed: [])
            return
        }
        var narrowed: [Narrowing] = []
        var emptied: [Variable] = []
        for record in records where record.attributes.scope.overlaps(scope) {
            let rest = record.attributes.scope.subtracting(scope)
            if rest.isEmpty {
                emptied.append(record)
            } else {
                narrowed.append(Narrowing(record: record.id, scope: rest))
            }
        }
        emptied.sort { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        self.init(
            record: emptied.first?.id, narrowed: narrowed, removed: emptied.dropFirst().map(\.id))
    }

    private init(record: Identifier?, narrowed: [Narrowing], removed: [Identifier]) {
        self.record = record
        self.narrowed = narrowed
        self.removed = removed
    }
}
