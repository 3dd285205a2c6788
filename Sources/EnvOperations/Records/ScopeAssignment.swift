package import Vault

/// Plans how one record of a key gets exactly a given scope.
///
/// The scope is removed from all other records, which keep the rest and their values. A record that
/// already has the scope keeps its id and history. A record that would be left without targets gets
/// the new scope, so that its history and its Vercel record survive; further ones of that kind are
/// removed.
package struct ScopeAssignment: Equatable {
    /// The record that gets the scope; nil for a new one.
    package let record: Identifier?
    /// Records that lose part of their scope.
    package let narrowed: [Narrowing]
    /// Records that lose all of their scope.
    package let removed: [Identifier]

    /// A record and the scope that it keeps.
    package struct Narrowing: Equatable {
        package let record: Identifier
        package let scope: Scope
    }

    /// Plans the assignment of `scope` among the live records of one key.
    package init(of scope: Scope, among records: [Variable]) {
        if let exact = records.first(where: { $0.attributes.scope == scope }) {
            (record, narrowed, removed) = (exact.id, [], [])
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
        record = emptied.first?.id
        self.narrowed = narrowed
        removed = emptied.dropFirst().map(\.id)
    }
}
