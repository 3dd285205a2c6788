internal import Sealing

extension VaultIndex {
    /// Seals the keys of groups again for a new root.
    mutating func resealGroupSecrets(
        of vault: Identifier, from old: VaultKeys, to new: VaultKeys
    ) throws(VaultError) {
        let arena = SecretArena()
        for place in journal.indices
        where journal[place].kind == GroupEntryKind.membership.rawValue {
            let entry = journal[place]
            let (sealed, rest) = try entry.sealedSection()
            let secrets = try old.groupSecrets(sealed, vault: vault, entry: entry.id, in: arena)
            let again = try new.sealedGroupSecrets(secrets, vault: vault, entry: entry.id)
            journal[place] = JournalEntry(
                id: entry.id, kind: entry.kind, createdAt: entry.createdAt,
                payload: JournalEntry.payload(sealed: again, rest: rest), section: entry.section)
        }
    }
}
