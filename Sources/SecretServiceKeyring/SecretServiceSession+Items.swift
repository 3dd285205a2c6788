import Sealing
import Vault

extension SecretServiceSession {
    /// Returns the first secret of `item` that satisfies `isWanted`. Searches unlocked items first,
    /// and unlocks others only if none of them matches.
    mutating func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(SecretServiceFailure) -> SecretBytes? {
        var matches = try matches(for: item)
        var malformed: SecretServiceFailure?
        if let found = try secret(of: matches, where: isWanted, &malformed) { return found }
        if matches.lockedCount == 0 {
            // A service need not search locked items, so an empty result is reliable only once the
            // collection is unlocked.
            if try defaultCollection() == .locked {
                if try unlockDefaultCollection() == .locked { throw .keyring(Self.locked) }
                matches = try self.matches(for: item)
                if let found = try secret(of: matches, where: isWanted, &malformed) {
                    return found
                }
            }
        } else {
            guard try unlock(matches) > 0 else { throw .keyring(Self.locked) }
            if let found = try secret(of: matches, where: isWanted, &malformed) { return found }
        }
        if let malformed { throw malformed }
        return nil
    }

    /// Returns the first unlocked secret of `item` that satisfies `isWanted`. Makes no further
    /// calls once an item is found, because each is a round trip to another process.
    mutating func secretWithoutPrompting(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(SecretServiceFailure) -> SecretBytes? {
        let matches = try matches(for: item)
        if matches.unlockedCount > 0 {
            var malformed: SecretServiceFailure?
            let found = try secret(of: matches, where: isWanted, &malformed)
            if found == nil, let malformed { throw malformed }
            return found
        }
        // A service need not search locked items.
        guard matches.lockedCount == 0, try defaultCollection() == .unlocked else {
            throw .keyring(KeyringError(.locked, "the keyring is locked"))
        }
        return nil
    }

    /// The most items read for one search; each is a round trip to the service.
    private static let maximumItemCount = 256

    /// Returns the first secret among the unlocked matches that satisfies `isWanted`.
    ///
    /// - Parameter malformed: Set for a match that zg-env cannot have stored, which is skipped.
    private mutating func secret(
        of matches: borrowing SecretServiceMatches, where isWanted: (borrowing SecretBytes) -> Bool,
        _ malformed: inout SecretServiceFailure?
    ) throws(SecretServiceFailure) -> SecretBytes? {
        let count = matches.unlockedCount
        for index in 0..<min(count, Self.maximumItemCount) {
            do {
                guard let secret = try secret(of: matches, at: index) else { continue }
                if isWanted(secret) { return secret }
            } catch {
                guard case .keyring(let problem) = error, problem.code == .malformed else {
                    throw error
                }
                malformed = error
            }
        }
        guard count <= Self.maximumItemCount else {
            throw .keyring(
                KeyringError(
                    .failed,
                    "the keyring has more than \(Self.maximumItemCount) items for one secret"))
        }
        return nil
    }

    /// Stores `text` for `item` and reads it back. Deletes older items in other collections, which
    /// could otherwise be found instead.
    mutating func store(
        _ text: borrowing SecretBytes, for item: KeyringItem
    ) throws(SecretServiceFailure) {
        if try unlockDefaultCollection() == .locked { throw .keyring(Self.locked) }
        let label = "zg-env \(item.purpose.rawValue) of vault \(item.vault.prefix(8))"
        try text.withBytes { (bytes) throws(SecretServiceFailure) in
            try store(
                bytes, vault: item.vault, purpose: item.purpose.rawValue,
                identifier: item.identifierText, label: label)
        }
        let matches = try matches(for: item)
        var others: [Int] = []
        for index in 0..<matches.unlockedCount {
            let isSame = try text.withBytes { (expected) throws(SecretServiceFailure) in
                try withText(of: matches, at: index) { $0.isEqualInConstantTime(to: expected) }
            }
            if !isSame { others.append(index) }
        }
        // A single item that differs is ours, changed by another program: do not delete it.
        guard matches.unlockedCount > others.count else {
            throw .keyring(KeyringError(.failed, "the keyring did not store the item"))
        }
        for index in others { try delete(matches, at: index) }
    }

    /// Deletes `item` from all collections, unlocking as needed, and verifies that it is gone.
    mutating func remove(_ item: KeyringItem) throws(SecretServiceFailure) {
        guard let found = try openMatches(for: item) else { return }
        try deleteAll(found)
        var rest = try matches(for: item)
        if rest.unlockedCount == 0, rest.lockedCount > 0 {
            // There is another one in a locked collection.
            guard try unlock(rest) > 0 else { throw .keyring(Self.locked) }
            try deleteAll(rest)
            rest = try matches(for: item)
        }
        guard rest.unlockedCount + rest.lockedCount == 0 else {
            throw .keyring(KeyringError(.failed, "the keyring still has the item"))
        }
    }

    private mutating func deleteAll(
        _ matches: borrowing SecretServiceMatches
    ) throws(SecretServiceFailure) {
        for index in 0..<matches.unlockedCount {
            do {
                try delete(matches, at: index)
            } catch {
                if !error.isGone { throw error }
            }
        }
    }

    /// Returns the items of `vault` that are readable without a prompt.
    mutating func items(ofVault vault: String) throws(SecretServiceFailure) -> [KeyringItem] {
        let matches = try matches(vault: vault)
        var items: [KeyringItem] = []
        for index in 0..<matches.unlockedCount {
            let purpose = try attribute("purpose", of: matches, at: index)
            let identifier = try attribute("identifier", of: matches, at: index)
            guard let purpose = purpose.flatMap(KeyringItem.Purpose.init), let identifier else {
                continue
            }
            let item = KeyringItem(
                vault: vault, purpose: purpose,
                identifier: identifier == KeyringItem.noIdentifier ? "" : identifier)
            if !items.contains(item) { items.append(item) }
        }
        return items
    }

    private static let locked = KeyringError(
        .locked, "the keyring is locked: its prompt was dismissed or could not be shown")

    private mutating func matches(
        for item: KeyringItem
    ) throws(SecretServiceFailure) -> SecretServiceMatches {
        try matches(
            vault: item.vault, purpose: item.purpose.rawValue, identifier: item.identifierText)
    }

    /// Searches for `item` and unlocks at least one match. Returns nil if nothing matches.
    private mutating func openMatches(
        for item: KeyringItem
    ) throws(SecretServiceFailure) -> SecretServiceMatches? {
        var found = try matches(for: item)
        if found.unlockedCount + found.lockedCount == 0 {
            // A service need not search locked items, so an empty result is reliable only once the
            // collection is unlocked. This does not prompt if it already is.
            switch try unlockDefaultCollection() {
            case .missing: return nil
            case .locked: throw .keyring(Self.locked)
            case .unlocked: found = try matches(for: item)
            }
            if found.unlockedCount + found.lockedCount == 0 { return nil }
        }
        if found.unlockedCount == 0 {
            guard try unlock(found) > 0 else { throw .keyring(Self.locked) }
        }
        return found
    }

    /// Returns the decoded secret of one match, or nil if it was removed since the search.
    private mutating func secret(
        of matches: borrowing SecretServiceMatches, at index: Int
    ) throws(SecretServiceFailure) -> SecretBytes? {
        do {
            return try withText(of: matches, at: index) { (text) throws(SecretServiceFailure) in
                guard let secret = try Self.decoded(text) else {
                    throw .keyring(
                        KeyringError(.malformed, "the keyring item was not stored by zg-env"))
                }
                return secret
            }
        } catch {
            if error.isGone { return nil }
            throw error
        }
    }

    /// The longest text accepted, far above anything that belongs in a keyring.
    private static let maximumTextByteCount = 65_536

    private static func decoded(_ text: RawSpan) throws(SecretServiceFailure) -> SecretBytes? {
        guard text.byteCount <= maximumTextByteCount else { return nil }
        do {
            return try Base64.decoded(text, .padded)
        } catch {
            throw .keyring(KeyringError(.failed, "cannot allocate guarded memory"))
        }
    }
}

extension KeyringItem {
    /// Represents an empty identifier: some services drop attributes with an empty value.
    fileprivate static let noIdentifier = "-"

    fileprivate var identifierText: String { identifier.isEmpty ? Self.noIdentifier : identifier }
}
