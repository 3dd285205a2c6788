internal import Sealing

/// What one line of the audit log says: who did what, when, to which names. Never a value.
package struct AuditEntry: Equatable, Sendable {
    /// What the line is.
    package enum Kind: UInt8, Sendable {
        /// Something was done, or is about to be.
        case event = 1
        /// Somebody with the passphrase takes the log for whole from here on, whatever lies before.
        case acceptance = 2
    }

    /// How it ended; free text, so that a later program can say more.
    package enum Outcome {
        /// Values left the program with the next step.
        package static let givenOut = "given out"
        /// Begun; a second line says how it ended.
        package static let begun = "begun"
        /// Done.
        package static let done = "done"
        /// Not done, or not all of it.
        package static let failed = "failed"
        /// The passphrase did not open the vault.
        package static let wrongPassphrase = "wrong passphrase"
    }

    /// What the line is.
    package var kind = Kind.event
    /// Milliseconds since 1970.
    package var time: UInt64
    /// The user's number.
    package var userID: UInt32
    /// The user's name at that time; empty where nobody knew it.
    package var user: String
    /// The command's words.
    package var command: String
    /// The project's name, where there is one.
    package var project: String?
    /// The target or scope, where there is one.
    package var place: String?
    /// Keys of variables, or what else the command was about.
    package var names: [String]
    /// Names that did not fit into the line.
    package private(set) var omittedNameCount: UInt32 = 0
    /// One of ``Outcome``, or a text of a later program.
    package var outcome: String

    /// Names all parts.
    package init(
        kind: Kind = .event, time: UInt64, userID: UInt32, user: String, command: String,
        project: String? = nil, place: String? = nil, names: [String] = [], outcome: String
    ) {
        self.kind = kind
        self.time = time
        self.userID = userID
        self.user = user
        self.command = command
        self.project = project
        self.place = place
        self.names = names
        self.outcome = outcome
    }

    /// Most bytes of the names together, each with four bytes of length.
    static let namesLimit = 64 << 10
    private static let layout: UInt8 = 1
    private static let textLimit = VaultFormat.textLimit
    private static let nameCountLimit = 1 << 16

    /// The padded content of a sealed line: u32 length, then layout 1, kind, time, user number,
    /// user, command, project, place, outcome, number of names left out, names; then zeros.
    ///
    /// Texts beyond 4 KiB are cut, and names beyond 64 KiB are counted instead of written: a line
    /// must never fail for its length.
    func encoded() -> [UInt8] {
        var (kept, byteCount) = (0, 0)
        for name in names.prefix(Self.nameCountLimit) {
            byteCount += 4 + min(name.utf8.count, Self.textLimit)
            guard byteCount <= Self.namesLimit else { break }
            kept += 1
        }
        var writer = ByteWriter(reserving: byteCount + 512)
        writer.section { writer in
            writer.byte(Self.layout)
            writer.byte(kind.rawValue)
            writer.uint64(time)
            writer.uint32(userID)
            writer.text(Self.cut(user))
            writer.text(Self.cut(command))
            writer.optionalText(project.map(Self.cut))
            writer.optionalText(place.map(Self.cut))
            writer.text(Self.cut(outcome))
            let omitted = UInt64(omittedNameCount) + UInt64(names.count - kept)
            writer.uint32(UInt32(clamping: omitted))
            writer.uint32(UInt32(kept))
            for name in names.prefix(kept) { writer.text(Self.cut(name)) }
        }
        let padded = Padding.paddedByteCount(ofValue: writer.count)
        writer.raw([UInt8](repeating: 0, count: padded - writer.count))
        return writer.bytes
    }

    /// Reads what ``encoded()`` wrote. Only one encoding of an entry is valid.
    static func decode(_ bytes: [UInt8]) throws(VaultError) -> AuditEntry {
        try bytes.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                let length = Int(try reader.uint32())
                guard Padding.paddedByteCount(ofValue: 4 + length) == bytes.byteCount else {
                    throw VaultError(damaged: .padding, "a line's length contradicts its padding")
                }
                var content = try reader.section(length)
                try reader.expectZeros(reader.remaining, else: .padding)
                let entry = try decodeContent(&content)
                try content.expectEnd(of: "a line of the audit log")
                return entry
            }
        }
    }

    private static func decodeContent(
        _ reader: inout ByteReader
    ) throws(VaultError) -> AuditEntry {
        guard try reader.byte() == layout, let kind = Kind(rawValue: try reader.byte()) else {
            throw VaultError(damaged: .encoding, "a line of the audit log has an unknown layout")
        }
        var entry = AuditEntry(
            kind: kind, time: try reader.uint64(), userID: try reader.uint32(),
            user: try reader.text(limit: textLimit), command: try reader.text(limit: textLimit),
            project: try reader.optionalText(limit: textLimit),
            place: try reader.optionalText(limit: textLimit), names: [],
            outcome: try reader.text(limit: textLimit))
        entry.omittedNameCount = try reader.uint32()
        let count = try reader.count(
            limit: nameCountLimit, minimumByteCount: 4, of: "names")
        entry.names.reserveCapacity(count)
        for _ in 0..<count { entry.names.append(try reader.text(limit: textLimit)) }
        return entry
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textLimit else { return text }
        var text = text
        while text.utf8.count > textLimit { text.removeLast() }
        return text
    }
}
