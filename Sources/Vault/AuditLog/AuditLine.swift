internal import Sealing

/// A line of the audit log file: `S` or `P`, sequence number, byte count, the bytes in base64, line
/// feed. `docs/file-formats.md` specifies the format.
struct AuditLine: Equatable {
    enum Kind: UInt8 {
        /// Nonce (24), ciphertext, tag (16); sealed with the log key.
        case sealed = 0x53
        /// A wrong passphrase, recorded without a key: event (1), time (8), user (4), link (16).
        case plain = 0x50
    }

    /// The most bytes of a body; leaves room for names, texts and padding.
    static let bodyLimit = 128 << 10
    /// The most bytes of a line, including its line feed.
    static let lineLimit = 2 + 17 + 7 + Base64.letterCount(of: bodyLimit) + 1
    /// The highest sequence number.
    static let sequenceLimit: UInt64 = 9_999_999_999_999_999
    static let tagByteCount = 16
    private static let plainByteCount = 1 + 8 + 4 + tagByteCount
    private static let wrongPassphrase: UInt8 = 1

    let kind: Kind
    let sequence: UInt64
    let body: [UInt8]

    /// The last 16 bytes, which the next line is bound to.
    var tag: [UInt8] { Array(body.suffix(Self.tagByteCount)) }

    /// Returns the data that binds a line to its vault and position: "zgv3/audit" zero-padded to 16
    /// bytes, vault id (16), sequence (u64), tag of the previous line (16).
    private static func associatedData(
        vault: Identifier, sequence: UInt64, previousTag: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter(reserving: 56)
        writer.raw(Array("zgv3/audit".utf8) + [UInt8](repeating: 0, count: 6))
        writer.identifier(vault)
        writer.uint64(sequence)
        writer.raw(previousTag)
        return writer.bytes
    }

    // MARK: Sealing

    static func sealing(
        _ entry: AuditEntry, sequence: UInt64, previousTag: [UInt8], vault: Identifier,
        key: borrowing SecretBytes
    ) -> AuditLine {
        let body = entry.encoded().withBytes {
            AuthenticatedCipher.sealed(
                $0,
                additionalData: associatedData(
                    vault: vault, sequence: sequence, previousTag: previousTag),
                key: key)
        }
        return AuditLine(kind: .sealed, sequence: sequence, body: body)
    }

    /// Returns a line for a wrong passphrase, which needs no key and contains no names. The chain
    /// covers it: its link is a truncated hash of its content and position.
    static func wrongPassphrase(
        time: UInt64, userID: UInt32, sequence: UInt64, previousTag: [UInt8], vault: Identifier
    ) -> AuditLine {
        var writer = ByteWriter(reserving: plainByteCount)
        writer.byte(wrongPassphrase)
        writer.uint64(time)
        writer.uint32(userID)
        let link = link(
            writer.bytes,
            associatedData(vault: vault, sequence: sequence, previousTag: previousTag))
        return AuditLine(kind: .plain, sequence: sequence, body: writer.bytes + link)
    }

    private static func link(_ content: [UInt8], _ associatedData: [UInt8]) -> [UInt8] {
        Array((associatedData + content).withBytes { Digest.checksum($0) }.prefix(tagByteCount))
    }

    // MARK: Opening

    /// Opens a line at its position in the chain. Returns nil if the line was changed or belongs
    /// elsewhere.
    func entry(
        previousTag: [UInt8], vault: Identifier, keys: AuditKeys
    ) throws(VaultError) -> AuditEntry? {
        let associatedData = Self.associatedData(
            vault: vault, sequence: sequence, previousTag: previousTag)
        switch kind {
        case .sealed:
            guard
                let opened = try keys.open(
                    Array(body.dropFirst(AuthenticatedCipher.nonceByteCount)),
                    nonce: Array(body.prefix(AuthenticatedCipher.nonceByteCount)),
                    associatedData: associatedData)
            else { return nil }
            return try AuditEntry.decode(opened)
        case .plain:
            guard body.count == Self.plainByteCount, body[0] == Self.wrongPassphrase else {
                return nil
            }
            let content = Array(body.dropLast(Self.tagByteCount))
            guard Self.link(content, associatedData) == tag else { return nil }
            func number(_ range: Range<Int>) -> UInt64 {
                content[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
            return AuditEntry(
                time: number(1..<9), userID: UInt32(truncatingIfNeeded: number(9..<13)), user: "",
                command: "", outcome: AuditEntry.Outcome.wrongPassphrase)
        }
    }
}

extension AuditLine {
    /// The line as text, including its line feed.
    var text: [UInt8] {
        var head = [kind.rawValue, 0x20]
        head += "\(sequence) \(body.count) ".utf8
        return TableBase64.encoded(body, after: head, before: [0x0A])
    }

    /// Parses a line without its line feed. Returns nil for anything that ``text`` would not write.
    init?(_ text: ArraySlice<UInt8>) {
        guard case .whole(let line) = Self.parsed(text) else { return nil }
        self = line
    }

    /// Returns whether bytes at the end of a file are an interrupted write. A file system can leave
    /// zeros after a power failure.
    static func isInterruptedWrite(_ text: ArraySlice<UInt8>) -> Bool {
        let written = text[..<((text.lastIndex { $0 != 0 }).map { $0 + 1 } ?? text.startIndex)]
        switch parsed(written) {
        case .whole, .beginning: return true
        case .neither: return false
        }
    }

    private enum Parsed {
        case whole(AuditLine)
        case beginning
        case neither
    }

    private static func parsed(_ text: ArraySlice<UInt8>) -> Parsed {
        var rest = text
        guard let mark = rest.popFirst() else { return .beginning }
        guard let kind = Kind(rawValue: mark) else { return .neither }
        guard let blank = rest.popFirst() else { return .beginning }
        guard blank == 0x20 else { return .neither }
        var numbers: [UInt64] = []
        for limit in [sequenceLimit, UInt64(bodyLimit)] {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard digits.count <= 16, digits.first != 0x30 else { return .neither }
            rest = rest[digits.endIndex...]
            guard let blank = rest.popFirst() else { return .beginning }
            guard blank == 0x20, !digits.isEmpty else { return .neither }
            let number = digits.reduce(0 as UInt64) { $0 * 10 + UInt64($1 - 0x30) }
            guard number <= limit else { return .neither }
            numbers.append(number)
        }
        let (sequence, length) = (numbers[0], Int(numbers[1]))
        let minimum =
            kind == .plain
            ? plainByteCount : AuthenticatedCipher.nonceByteCount + AuthenticatedCipher.tagByteCount
        guard length >= minimum else { return .neither }
        let full = Base64.letterCount(of: length)
        guard rest.count <= full else { return .neither }
        guard rest.count == full else {
            return rest.allSatisfy(Base64.isLetter) ? .beginning : .neither
        }
        guard let body = TableBase64.decoded(rest) else { return .neither }
        return .whole(AuditLine(kind: kind, sequence: sequence, body: body))
    }
}
