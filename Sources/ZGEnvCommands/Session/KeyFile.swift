internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// A file with the random keys of file slots, for machines without a desktop.
///
/// One line for each key: `zg-env-key-1`, the vault's id, the slot's id and the key, in lowercase
/// hexadecimal digits separated by one space. It must be a regular file of the user that nobody else
/// can read or write.
struct KeyFile: ~Copyable {
    private static let limit = 64 << 10

    private let path: String
    private let text: SecretBuffer

    /// Reads a key file.
    ///
    /// - Throws: ``ExitCode/locked`` if it is missing or accessible to others.
    init(reading path: String) throws {
        func refusal(_ objection: String) -> CommandError {
            SecretFileRule.refusal("key file \(path)", objection, secret: "key")
        }
        let file = try SystemError.mapped(try OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)) {
            error in
            error.number == ELOOP
                ? refusal("is a symbolic link")
                : CommandError(
                    .locked, "The key file \(path) cannot be opened: \(error.reason).")
        }
        let facts = try SystemError.mapped(try file.facts()) { _ in refusal("cannot be checked") }
        defer { withExtendedLifetime(file) {} }
        guard facts.kind == .regular else { throw refusal("is not a regular file") }
        if let objection = SecretFileRule.own.objection(to: facts) { throw refusal(objection) }
        text = try SecretInput.read(
            descriptor: file.descriptor, limit: Self.limit, what: "The key file \(path)")
        self.path = path
    }

    /// Returns the key of a slot; nil if the file has no key for it.
    ///
    /// - Throws: ``ExitCode/locked`` for a malformed line.
    borrowing func key(of slot: Identifier, vault: Identifier) throws -> SecretBytes? {
        let front = Self.front(slot, vault)
        var key = try SecretBytes(count: 32)
        let found: Bool? = text.withBytes { text in
            guard let line = Self.lines(of: text).first(where: { Self.starts(text, $0, front) })
            else { return nil }
            guard line.count == front.count + 64 else { return false }
            return key.withMutableBytes { key in
                for index in 0..<32 {
                    let offset = line.lowerBound + front.count + index * 2
                    guard let high = Hexadecimal.value(of: text.byte(at: offset)),
                        let low = Hexadecimal.value(of: text.byte(at: offset + 1))
                    else { return false }
                    key.storeBytes(of: high << 4 | low, toByteOffset: index, as: UInt8.self)
                }
                return true
            }
        }
        guard let found else { return nil }
        guard found else {
            throw CommandError(.locked, "The key file \(path) is damaged: a line is malformed.")
        }
        return key
    }

    /// Runs `body` while no other process changes the file, which may have the keys of several vaults.
    ///
    /// - Throws: ``ExitCode/conflict`` if another process takes too long.
    static func locked(_ path: String, _ body: () throws -> Void) throws {
        while let file = try? OpenFile(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK) {
            let lock = FileLock(on: file)
            guard try lock.lock(within: .seconds(10), pauses: 1_000...50_000) else {
                throw CommandError(
                    .conflict, "The key file \(path) is being changed by another process.",
                    hint: "Retry when that process has ended.")
            }
            // A change replaces the file, and with it the lock.
            guard try file.facts() == FileFacts(path, followsLinks: false) else { continue }
            return try withExtendedLifetime(lock) { try body() }
        }
        // It is read-only, and not locked; or reading it says why it cannot be changed.
        try body()
    }

    /// Rewrites the file with one more key.
    borrowing func add(_ key: borrowing SecretBytes, of slot: Identifier, vault: Identifier) throws
    {
        var new = try SecretBuffer()
        try new.append(text)
        // An editor may have removed the last line's end.
        if text.withBytes({ $0.byteCount > 0 && $0.byte(at: $0.byteCount - 1) != 0x0A }) {
            try new.append(0x0A)
        }
        try Self.append(key, slot, vault, to: &new)
        try new.withBytes { try PrivateFile.write($0, to: path, replaces: true) }
    }

    /// Rewrites the file without the key of a slot.
    borrowing func remove(_ slot: Identifier, vault: Identifier) throws {
        let front = Self.front(slot, vault)
        var new = try SecretBuffer()
        try text.withBytes { text in
            for line in Self.lines(of: text) where !Self.starts(text, line, front) {
                try new.append(text.extracting(line))
                try new.append(0x0A)
            }
        }
        try new.withBytes { try PrivateFile.write($0, to: path, replaces: true) }
    }

    /// Creates a key file with one key.
    ///
    /// - Throws: ``ExitCode/conflict`` if `path` exists.
    static func create(
        _ path: String, _ key: borrowing SecretBytes, of slot: Identifier, vault: Identifier
    ) throws {
        var text = try SecretBuffer()
        try append(key, slot, vault, to: &text)
        do {
            try text.withBytes { try PrivateFile.write($0, to: path, replaces: false) }
        } catch let error as CommandError where error.code == .conflict {
            throw CommandError(
                .conflict, error.message, hint: "Choose a path that does not exist yet.")
        }
    }

    /// Checks that a key file contains a key that was just written.
    static func check(
        _ path: String, for key: borrowing SecretBytes, of slot: Identifier, vault: Identifier
    ) throws {
        let file = try KeyFile(reading: path)
        guard let stored = try file.key(of: slot, vault: vault),
            stored.isEqualInConstantTime(to: key)
        else { throw CommandError(.failed, "\(path) does not contain what was written.") }
    }

    /// Deletes a key file that was just created and that nothing needs.
    static func delete(_ path: String) {
        unsafe unlink(path)
    }

    private static func append(
        _ key: borrowing SecretBytes, _ slot: Identifier, _ vault: Identifier,
        to text: inout SecretBuffer
    ) throws {
        try text.append(front(slot, vault))
        try key.withBytes { key in
            for offset in 0..<key.byteCount {
                let digits = Hexadecimal.digits(of: key.byte(at: offset))
                try text.append(digits.high)
                try text.append(digits.low)
            }
        }
        try text.append(0x0A)
    }

    private static func front(_ slot: Identifier, _ vault: Identifier) -> [UInt8] {
        Array("zg-env-key-1 \(vault.hexadecimal) \(slot.hexadecimal) ".utf8)
    }

    private static func starts(_ text: RawSpan, _ line: Range<Int>, _ front: [UInt8]) -> Bool {
        line.count >= front.count
            && front.indices.allSatisfy { text.byte(at: line.lowerBound + $0) == front[$0] }
    }

    private static func lines(of text: RawSpan) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for offset in 0..<text.byteCount where text.byte(at: offset) == 0x0A {
            lines.append(start..<offset)
            start = offset + 1
        }
        if start < text.byteCount { lines.append(start..<text.byteCount) }
        return lines
    }
}

extension VaultSession {
    /// Returns the keys that the given key file opens, or why it opens none; neither without one.
    ///
    /// - Throws: ``ExitCode/locked`` for a file that is not safe to use.
    func keysFromKeyFile(_ vault: Vault) throws -> (keys: VaultKeys?, problem: String?) {
        guard let path = options.keyFile else { return (nil, nil) }
        let slots = vault.header.slots.filter { $0.kind == .file }
        guard !slots.isEmpty else {
            return (nil, "The vault has no slot for a key file, so \(path) was not used.")
        }
        let file = try KeyFile(reading: path)
        // A slot that opens the values opens the index too, so it comes first.
        for slot in slots.sorted(by: { $0.tier.rawValue > $1.tier.rawValue }) {
            guard let key = try file.key(of: slot.id, vault: vault.header.vaultID) else { continue }
            if let keys = try vault.unlock(slot, slotKey: key) { return (keys, nil) }
        }
        return (nil, "The key file \(path) has no key that opens this vault.")
    }
}
