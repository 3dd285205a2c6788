package import Vault

/// A decision of an admin, with who made it and when.
package struct SettledMatter: Equatable, Sendable {
    package let settlement: Settlement
    package let author: Identifier
    /// By the author's clock, in milliseconds since 1970.
    package let createdAt: UInt64

    /// Returns the decisions that count in a compartment, the oldest first.
    package static func all(
        in state: CompartmentState, of changes: some Sequence<ReceivedChange>
    ) -> [SettledMatter] {
        guard !state.settled.isEmpty else { return [] }
        var found: [SettledMatter] = []
        for change in changes where state.late[change.name] == nil {
            for operation in change.operations ?? [] {
                guard case .settle(let settlement) = operation.operation,
                    state.settled.contains(settlement)
                else { continue }
                found.append(
                    SettledMatter(
                        settlement: settlement, author: change.header.author,
                        createdAt: change.createdAt))
            }
        }
        return found.sorted { ($0.createdAt, $0.author) < ($1.createdAt, $1.author) }
    }
}
