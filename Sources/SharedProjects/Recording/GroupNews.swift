package import Groups
package import Vault

/// What one write reports to groups besides what it changes in the vault.
package struct GroupNews: Sendable {
    /// Things of variables that the user decided although the vault's state stays the same.
    package var decided: [Identifier: Set<Assigned>]
    /// Decisions of an admin about what a member who left could read, by compartment.
    package var settlements: [Identifier: [Settlement]]
    /// What a push has just seen on Vercel. Not taken from the vault: there a program with the index
    /// key could have put it.
    package var claims: [RemoteClaim]
    /// Variables of which colleagues' rotations are ended.
    package var takenOver: Set<Identifier>

    package init(
        decided: [Identifier: Set<Assigned>] = [:], settlements: [Identifier: [Settlement]] = [:],
        claims: [RemoteClaim] = [], takenOver: Set<Identifier> = []
    ) {
        (self.decided, self.settlements) = (decided, settlements)
        (self.claims, self.takenOver) = (claims, takenOver)
    }

    /// Adds what another part of the same write reports.
    package mutating func add(_ other: GroupNews) {
        decided.merge(other.decided) { $0.union($1) }
        settlements.merge(other.settlements) { $0 + $1 }
        claims += other.claims
        takenOver.formUnion(other.takenOver)
    }
}
