package import Sealing
internal import SystemFiles
package import Vault

/// The response cache on disk: one table per vault, sealed with a key derived from the index key.
/// `docs/file-formats.md` specifies the format.
///
/// Readers take no lock; writers take turns. A table that cannot be opened counts as empty. A
/// failed write is reported to `complain` and is never an error.
package final class ResponseCache {
    private let directory: ResponseCacheDirectory
    private let name: String
    private let nameKey: SecretBytes
    private let sealing: SealedFile
    private let complain: (String) -> Void
    /// A write takes some milliseconds; the short lock timeout is for a stopped writer. A table
    /// that a power loss leaves incomplete does not open, so writes need not be durable.
    private let files = PosixFileStore(lockSeconds: 2, isDurable: false)
    private var last: (file: [UInt8], answers: [CachedResponse]) = ([], [])

    /// - Parameters:
    ///   - key: The vault's response cache key.
    ///   - directory: The path of the directory, created at the first write.
    ///   - complain: Called with one sentence if something could not be cached.
    package init(
        key: borrowing SecretBytes, vault: Identifier, directory: String,
        complain: @escaping (String) -> Void
    ) throws(SealingError) {
        self.directory = ResponseCacheDirectory(path: directory)
        self.complain = complain
        let nameKey = try KeyDerivation.derive(from: key, id: 1, context: "zgv3answ")
        name =
            try vault.bytes.withBytes { (bytes) throws(SealingError) in
                try Self.name(of: bytes, nameKey)
            } + ResponseCacheDirectory.ending
        self.nameKey = nameKey
        sealing = SealedFile(
            key: try KeyDerivation.derive(from: key, id: 2, context: "zgv3answ"),
            label: "zgv3/answer", vault: vault)
    }

    private var path: String { "\(directory.path)/\(name)" }

    /// Returns 32 hexadecimal digits that reveal nothing about `bytes` without the key.
    private static func name(
        of bytes: RawSpan, _ key: borrowing SecretBytes
    ) throws(SealingError) -> String {
        let digest = try key.withBytes { (key) throws(SealingError) in
            try Digest.keyed(bytes, key: key)
        }
        return digest.withBytes { bytes in
            Hexadecimal.text(of: (0..<16).map { bytes.byte(at: $0) })
        }
    }

    /// Returns a name for the token's account that does not reveal the token.
    package func account(ofToken token: SecretSlice) throws(SealingError) -> String {
        "token "
            + (try token.withBytes { (bytes) throws(SealingError) in
                try Self.name(of: bytes, nameKey)
            })
    }

    // MARK: Reading

    /// Returns all cached responses, regardless of age.
    package func answers() -> [CachedResponse] {
        guard let file = try? bytes() else { return [] }
        // No two files have the same nonce.
        if file != last.file {
            let table = sealing.open(file) ?? []
            let lines = table.split(separator: UInt8(ascii: "\n"))
            last = (file, lines.compactMap { CachedResponse(line: Array($0)) })
        }
        return last.answers
    }

    private func bytes() throws(VaultError) -> [UInt8] {
        let file = try files.open(path)
        // The longest table, padded and sealed.
        guard file.byteCount <= UInt64(ResponseCachePolicy.totalByteLimit + 8_192) else {
            return []
        }
        return try file.read(at: 0, count: Int(file.byteCount))
    }

    /// Returns the cached response at an address, regardless of age.
    package func answer(at address: ResponseKey) -> CachedResponse? {
        answers().first { $0.address == address }
    }

    // MARK: Writing

    /// Caches responses in place of earlier ones, drops what is too old or too much, and drops the
    /// outage note of the same API, account and scope.
    ///
    /// - Parameters:
    ///   - askedAt: When the requests were sent.
    ///   - now: The time by the same clock.
    package func keep(
        _ answers: [ResponseKey: some CacheableResponse], askedAt: UInt64, now: UInt64
    ) {
        do {
            let made = try answers.map { address, answer in
                try CachedResponse(answer, at: address, askedAt: askedAt)
            }
            let kept = made.filter { $0.line.count <= ResponseCachePolicy.answerByteLimit }
            if kept.count < made.count { complain("A response is too large to be cached.") }
            let replaced = Set(answers.keys).union(answers.keys.map { $0.asking(.outage) })
            try directory.prepare()
            try update { old in
                ResponseCachePolicy.remaining(
                    of: kept + old.filter { !replaced.contains($0.address) }, now: now)
            }
            let longest = ResponseCachePolicy.longestMilliseconds
            directory.removeOthers(than: name, before: now > longest ? now - longest : 0)
        } catch {
            complain("Cannot cache responses: \((error as? VaultError)?.reason ?? "\(error)").")
        }
    }

    /// Drops the responses that `isMeant` selects.
    package func drop(where isMeant: (CachedResponse) -> Bool) {
        guard answers().contains(where: isMeant) else { return }
        do {
            try update { $0.filter { !isMeant($0) } }
        } catch {
            removeTable()
        }
    }

    /// Drops what does not open: a damaged table, and the tables of other vaults and former index
    /// keys.
    package func dropUnreadable() {
        if answers().isEmpty { removeTable() }
        directory.removeOthers(than: name, before: .max)
    }

    /// Changes the table under the write lock.
    func update(_ change: ([CachedResponse]) throws -> [CachedResponse]) throws {
        try files.withLock(path) {
            let old = answers()
            let new = try change(old)
            // A write would wake processes that watch the directory.
            guard new != old else { return }
            guard !new.isEmpty else { return try files.remove(path) }
            let table = Array(new.map(\.line).joined(separator: [UInt8(ascii: "\n")]))
            try files.replace(path, with: [.bytes(sealing.seal(table))])
        }
    }

    private func removeTable() {
        do throws(VaultError) {
            try files.remove(path)
        } catch {
            complain("Cannot delete cached responses: \(error.reason).")
        }
    }
}
