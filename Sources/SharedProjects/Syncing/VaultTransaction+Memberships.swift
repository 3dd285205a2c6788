package import Vault

extension VaultIndex {
    /// Returns the entry of a membership.
    ///
    /// - Throws: ``SharingError/Code/notFound``.
    package func membershipEntry(_ id: Identifier) throws(SharingError) -> JournalEntry {
        guard let stored = journal.first(where: { $0.id == id }) else {
            throw SharingError(.notFound, "This vault no longer belongs to the group.")
        }
        return stored
    }
}

extension VaultTransaction {
    /// Changes what the vault keeps about a group; the keys stay as they are.
    package mutating func changeMembership(
        _ id: Identifier, _ body: (inout GroupMembership) throws -> Void
    ) throws {
        let stored = try index.membershipEntry(id)
        var membership = try GroupMembership(stored)
        try body(&membership)
        try keep(membership.entry(sealed: try stored.sealedSection().sealed))
    }

    /// Stops sharing a project, and remembers that. The group learns nothing of it: what the vault
    /// does with the project from now on is not recorded.
    ///
    /// - Parameter keepsProject: Whether the project stays in this vault, to be attached again when
    ///   this vault is a member again. Else a sync does not bring it back unasked.
    package mutating func detach(_ shared: SharedProject, keepsProject: Bool) throws {
        let state = try SharedState.of(shared.compartment, shared.group, in: index)
        let name = index.project(shared.project)?.name ?? ""
        if let membership = try GroupMembership.of(shared.group, in: index) {
            let suffix = "@\(membership.name)"
            let isPlain = shared.isAdopted || !name.hasSuffix(suffix)
            try changeMembership(membership.id) {
                $0.detached.removeAll { $0.compartment == shared.compartment }
                $0.detached.append(
                    GroupMembership.DetachedProject(
                        compartment: shared.compartment,
                        project: keepsProject ? shared.project : nil,
                        name: isPlain ? name : String(name.dropLast(suffix.count)),
                        isAdopted: shared.isAdopted))
            }
        }
        removeGroupEntries(Set([shared.id] + (state.map { [$0.id] } ?? [])))
    }

    /// Stops sharing all projects of a group, which stay in this vault, and drops the changes that
    /// were not published.
    package mutating func detachAll(of group: GroupMembership) throws {
        for shared in try SharedProject.all(of: group.group, in: index) {
            try detach(shared, keepsProject: true)
        }
        let outgoing = try OutgoingChange.all(of: group.group, in: index)
        removeGroupEntries(Set(outgoing.map(\.id)))
    }
}
