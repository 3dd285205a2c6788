package import Sealing
internal import SystemFiles
package import Vault

/// Answers of the platform on the disk: one table for each vault, sealed with a key of the index tier;
/// `docs/answer-cache.md` has it to the byte.
///
/// Readers take no lock, and writers take turns. What cannot be opened is no answer and never an error;
/// what cannot be written is told to `complain` and never an error either.
package final class AnswerCache {
    private let directory: AnswerDirectory
    private let name: String
    private let nameKey: SecretBytes
    private let sealing: SealedFile
    private let complain: (String) -> Void
    /// Who writes takes some milliseconds. Behind one that was stopped nobody waits for long. A table that a loss
    /// of power leaves half written does not open.
    private let files = PosixFileStore(lockSeconds: 2, isDurable: false)
    private var last: (file: [UInt8], answers: [KeptAnswer]) = ([], [])

    /// - Parameters:
    ///   - key: The vault's answer cache key.
    ///   - directory: The path of the directory; made when something is first kept.
    ///   - complain: Told why something could not be kept, in one sentence.
    package init(
        key: borrowing SecretBytes, vault: Identifier, directory: String,
        complain: @escaping (String) -> Void
    ) throws(SealingError) {
        self.directory = AnswerDirectory(path: directory)
        self.complain = complain
        let nameKey = try KeyDerivation.derive(from: key, id: 1, context: "zgv2answ")
        name =
            try vault.bytes.withBytes { (bytes) throws(SealingError) in
                try Self.name(of: bytes, nameKey)
            } + AnswerDirectory.ending
        self.nameKey = nameKey
        sealing = SealedFile(
            key: try KeyDerivation.derive(from: key, id: 2, context: "zgv2answ"),
            label: "zgv2/answer", vault: vault)
    }

    private var path: String { "\(directory.path)/\(name)" }

    /// 32 hexadecimal digits that say nothing of `bytes` without the key.
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

    /// A name for whoever has this token, which does not give it away.
    package func account(ofToken token: SecretSlice) throws(SealingError) -> String {
        "token "
            + (try token.withBytes { (bytes) throws(SealingError) in
                try Self.name(of: bytes, nameKey)
            })
    }

    // MARK: Reading

    /// All answers that are kept, however old.
    package func answers() -> [KeptAnswer] {
        guard let file = try? bytes() else { return [] }
        // No two files have the same nonce.
        if file != last.file {
            let table = sealing.open(file) ?? []
            let lines = table.split(separator: UInt8(ascii: "\n"))
            last = (file, lines.compactMap { KeptAnswer(line: Array($0)) })
        }
        return last.answers
    }

    private func bytes() throws(VaultError) -> [UInt8] {
        let file = try files.open(path)
        // The longest table, padded and sealed.
        guard file.byteCount <= UInt64(AnswerPolicy.totalByteLimit + 8_192) else { return [] }
        return try file.read(at: 0, count: Int(file.byteCount))
    }

    /// The answer that is kept for an address, however old.
    package func answer(at address: AnswerAddress) -> KeptAnswer? {
        answers().first { $0.address == address }
    }

    // MARK: Writing

    /// Keeps what may be kept of answers, in place of earlier ones, and drops what is too old or too
    /// much, and the note that the same askers could not reach the platform.
    ///
    /// - Parameters:
    ///   - askedAt: When the questions were sent.
    ///   - now: The same clock.
    package func keep(
        _ answers: [AnswerAddress: some KeepableAnswer], askedAt: UInt64, now: UInt64
    ) {
        do {
            let made = try answers.map { address, answer in
                try KeptAnswer(answer, at: address, askedAt: askedAt)
            }
            let kept = made.filter { $0.line.count <= AnswerPolicy.answerByteLimit }
            if kept.count < made.count { complain("An answer is too long to be kept.") }
            let replaced = Set(answers.keys).union(answers.keys.map { $0.asking(.outage) })
            try directory.prepare()
            try update { old in
                AnswerPolicy.remaining(
                    of: kept + old.filter { !replaced.contains($0.address) }, now: now)
            }
            let longest = AnswerPolicy.longestMilliseconds
            directory.removeOthers(than: name, before: now > longest ? now - longest : 0)
        } catch {
            complain("Answers are not kept: \((error as? VaultError)?.reason ?? "\(error)").")
        }
    }

    /// Drops the answers that `isMeant` chooses.
    package func drop(where isMeant: (KeptAnswer) -> Bool) {
        guard answers().contains(where: isMeant) else { return }
        do {
            try update { $0.filter { !isMeant($0) } }
        } catch {
            removeTable()
        }
    }

    /// Drops what does not open: a damaged table, and those of other vaults and of former index keys.
    package func dropUnreadable() {
        if answers().isEmpty { removeTable() }
        directory.removeOthers(than: name, before: .max)
    }

    /// Changes the table while nobody else does.
    func update(_ change: ([KeptAnswer]) throws -> [KeptAnswer]) throws {
        try files.withLock(path) {
            let old = answers()
            let new = try change(old)
            // Whoever watches the directory would look again.
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
            complain("Answers may be left behind: \(error.reason).")
        }
    }
}
