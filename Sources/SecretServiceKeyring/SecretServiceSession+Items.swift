import Sealing
import Vault

extension SecretServiceSession {
    /// Finds the first secret of `item` that `isWanted` takes. What is open is tried first; what is
    /// locked is unlocked only where that has none.
    mutating func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(SecretServiceFailure) -> SecretBytes? {
        var matches = try matches(for: item)
        var malformed: SecretServiceFailure?
        if let found = try secret(of: matches, where: isWanted, &malformed) { return found }
        if matches.lockedCount == 0 {
            // A service need not search what is locked, so "nothing" counts only once the collection
            // is open.
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

    /// Finds the first secret of `item` that `isWanted` takes, among those that are unlocked. Where an
    /// item is found nothing else is asked for: a question to the service is a way to another process
    /// and back.
    mutating func secretWithoutAsking(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(SecretServiceFailure) -> SecretBytes? {
        let matches = try matches(for: item)
        if matches.unlockedCount > 0 {
            var malformed: SecretServiceFailure?
            let found = try secret(of: matches, where: isWanted, &malformed)
            if found == nil, let malformed { throw malformed }
            return found
        }
        // A service need not search what is locked.
        guard matches.lockedCount == 0, try defaultCollection() == .unlocked else {
            throw .keyring(KeyringError(.locked, "the keyring is locked"))
        }
        return nil
    }

    /// Most items of one search that are read: each is a way to the service and back.
    private static let mostItems = 256

    /// The first secret among the unlocked matches that `isWanted` takes.
    ///
    /// - Parameter malformed: Set for a match that is not what zg-env stores, and passed over.
    private mutating func secret(
        of matches: borrowing SecretServiceMatches, where isWanted: (borrowing SecretBytes) -> Bool,
        _ malformed: inout SecretServiceFailure?
    ) throws(SecretServiceFailure) -> SecretBytes? {
        let count = matches.unlockedCount
        for index in 0..<min(count, Self.mostItems) {
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
        guard count <= Self.mostItems else {
            throw .keyring(
                KeyringError(
                    .failed, "the keyring holds more than \(Self.mostItems) items for one secret"))
        }
        return nil
    }

    /// Stores `text` for `item`, and reads it back. Older items in other collections are deleted, so
    /// that none of them is found instead.
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
        // One item that differs is ours, changed by somebody else: not to be deleted.
        guard matches.unlockedCount > others.count else {
            throw .keyring(KeyringError(.failed, "the keyring did not keep what was stored"))
        }
        for index in others { try delete(matches, at: index) }
    }

    /// Deletes `item` wherever it is, unlocking what has to be for that, and looks whether it is gone.
    mutating func remove(_ item: KeyringItem) throws(SecretServiceFailure) {
        guard let found = try openMatches(for: item) else { return }
        try deleteAll(found)
        var rest = try matches(for: item)
        if rest.unlockedCount == 0, rest.lockedCount > 0 {
            // Another one in a collection that is locked.
            guard try unlock(rest) > 0 else { throw .keyring(Self.locked) }
            try deleteAll(rest)
            rest = try matches(for: item)
        }
        guard rest.unlockedCount + rest.lockedCount == 0 else {
            throw .keyring(KeyringError(.failed, "the keyring still holds the item"))
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

    /// The items of `vault` that can be read without a prompt.
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
        .locked, "the keyring is locked: its question was declined or could not be shown")

    private mutating func matches(
        for item: KeyringItem
    ) throws(SecretServiceFailure) -> SecretServiceMatches {
        try matches(
            vault: item.vault, purpose: item.purpose.rawValue, identifier: item.identifierText)
    }

    /// Searches for `item`, with at least one match unlocked; nil when there is none.
    private mutating func openMatches(
        for item: KeyringItem
    ) throws(SecretServiceFailure) -> SecretServiceMatches? {
        var found = try matches(for: item)
        if found.unlockedCount + found.lockedCount == 0 {
            // A service need not search what is locked, so "nothing" counts only once the collection
            // is open. Where it is open already, nobody is asked.
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

    /// The decoded secret of one match; nil when it went away since the search.
    private mutating func secret(
        of matches: borrowing SecretServiceMatches, at index: Int
    ) throws(SecretServiceFailure) -> SecretBytes? {
        do {
            return try withText(of: matches, at: index) { (text) throws(SecretServiceFailure) in
                guard let secret = try Self.decoded(text) else {
                    throw .keyring(
                        KeyringError(.malformed, "the keyring's item is not what zg-env stores"))
                }
                return secret
            }
        } catch {
            if error.isGone { return nil }
            throw error
        }
    }

    /// Longest text that is taken in: nothing that belongs in a keyring is near it.
    private static let longestText = 65_536

    private static func decoded(_ text: RawSpan) throws(SecretServiceFailure) -> SecretBytes? {
        guard text.byteCount <= longestText else { return nil }
        do {
            return try Base64.decoded(text, .padded)
        } catch {
            throw .keyring(KeyringError(.failed, "guarded memory could not be had"))
        }
    }
}

extension KeyringItem {
    /// Stands for an empty identifier: an attribute with an empty value is not kept by every service.
    fileprivate static let noIdentifier = "-"

    /// The identifier as an attribute.
    fileprivate var identifierText: String { identifier.isEmpty ? Self.noIdentifier : identifier }
}
