internal import Sealing

/// A line of the audit log: who did what, when, to which names. Never contains a value.
package struct AuditEntry: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// An action that was taken or is about to be.
        case event = 1
        /// A person with the passphrase has accepted the log up to here, with all its problems.
        case acceptance = 2
    }

    /// The result of a command. Free text, so that later versions can add more.
    package enum Outcome {
        /// Values are about to leave the program.
        package static let givenOut = "given out"
        /// Started; another line records the end.
        package static let begun = "begun"
        package static let done = "done"
        /// Failed completely or in part.
        package static let failed = "failed"
        package static let wrongPassphrase = "wrong passphrase"
    }

    package var kind = Kind.event
    /// Milliseconds since 1970.
    package var time: UInt64
    package var userID: UInt32
    /// The user's name at that time; empty if unknown.
    package var user: String
    /// The command with its subcommand.
    package var command: String
    package var project: String?
    /// The target or scope, if any.
    package var place: String?
    /// What the command was about: variables, or anything else with a name.
    package var subjects: [Subject]
    /// The line that recorded the beginning of what this one ends; 0 for none.
    package var begunAt: UInt64
    /// The number of names that did not fit into the line.
    package private(set) var omittedNameCount: UInt32 = 0
    /// One of ``Outcome``, or another version's text.
    package var outcome: String

    package init(
        kind: Kind = .event, time: UInt64, userID: UInt32, user: String, command: String,
        project: String? = nil, place: String? = nil, subjects: [Subject] = [],
        begunAt: UInt64 = 0, outcome: String
    ) {
        self.kind = kind
        self.time = time
        self.userID = userID
        self.user = user
        self.command = command
        self.project = project
        self.place = place
        self.subjects = subjects
        self.begunAt = begunAt
        self.outcome = outcome
    }

    /// A variable, or anything else with a name.
    package struct Subject: Equatable, Sendable {
        package var name: String
        /// The targets of a change; nil if the line is not about targets.
        package var targets: String?
        /// The number of the version that is current after a change; 0 for none.
        package var version: UInt64

        package init(_ name: String, targets: String? = nil, version: UInt64 = 0) {
            (self.name, self.targets, self.version) = (name, targets, version)
        }

        /// Whether more is known than the name.
        fileprivate var isChange: Bool { targets != nil || version > 0 }

        /// The most bytes of its encoding, in an entry with changes or without.
        fileprivate func byteCount(inChanges: Bool) -> Int {
            let name = 4 + min(name.utf8.count, textLimit)
            guard inChanges else { return name }
            return name + 9 + (targets.map { 4 + min($0.utf8.count, textLimit) } ?? 0)
        }
    }

    package var names: [String] {
        get { subjects.map(\.name) }
        set { subjects = newValue.map { Subject($0) } }
    }

    /// The most bytes for all names, with what is known of each.
    static let namesLimit = 64 << 10
    private static let layout: UInt8 = 1
    private static let textLimit = VaultFormat.textLimit
    private static let nameCountLimit = 1 << 16

    /// Splits subjects into the fewest lines that have room for all; one without any for none.
    package static func parts(of subjects: [Subject]) -> [[Subject]] {
        var parts: [[Subject]] = [[]]
        var byteCount = 0
        for subject in subjects {
            let more = subject.byteCount(inChanges: true)
            if byteCount + more > namesLimit || parts[parts.count - 1].count == nameCountLimit {
                parts.append([])
                byteCount = 0
            }
            parts[parts.count - 1].append(subject)
            byteCount += more
        }
        return parts
    }

    /// Returns the padded content of a sealed line: u32 length, then layout 1, kind, time, user id,
    /// user, command, project, place, outcome, line of the beginning, number of omitted names,
    /// names, what is known of each; then zeros.
    ///
    /// A line must never fail because of its length, so texts are truncated to 4 KiB, and names
    /// beyond 64 KiB are only counted.
    func encoded() -> [UInt8] {
        let hasChanges = subjects.contains(where: \.isChange)
        var (kept, byteCount) = (0, 0)
        for subject in subjects.prefix(Self.nameCountLimit) {
            byteCount += subject.byteCount(inChanges: hasChanges)
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
            writer.uint64(begunAt)
            let omitted = UInt64(omittedNameCount) + UInt64(subjects.count - kept)
            writer.uint32(UInt32(clamping: omitted))
            writer.uint32(UInt32(kept))
            let shown = subjects.prefix(kept)
            for subject in shown { writer.text(Self.cut(subject.name)) }
            let changed = shown.contains(where: \.isChange) ? shown : []
            writer.uint32(UInt32(changed.count))
            for subject in changed {
                writer.optionalText(subject.targets.map(Self.cut))
                writer.uint64(subject.version)
            }
        }
        let padded = Padding.paddedByteCount(ofValue: writer.count)
        writer.raw([UInt8](repeating: 0, count: padded - writer.count))
        return writer.bytes
    }

    /// Decodes what ``encoded()`` returned. Accepts only the canonical encoding.
    static func decode(_ bytes: [UInt8]) throws(VaultError) -> AuditEntry {
        try bytes.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                let length = Int(try reader.uint32())
                guard Padding.paddedByteCount(ofValue: 4 + length) == bytes.byteCount else {
                    throw VaultError(
                        damaged: .padding, "a line's length does not match its padding")
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
            place: try reader.optionalText(limit: textLimit),
            outcome: try reader.text(limit: textLimit))
        entry.begunAt = try reader.uint64()
        entry.omittedNameCount = try reader.uint32()
        let count = try reader.count(
            limit: nameCountLimit, minimumByteCount: 4, of: "names")
        entry.subjects.reserveCapacity(count)
        for _ in 0..<count { entry.subjects.append(Subject(try reader.text(limit: textLimit))) }
        let changeCount = try reader.uint32()
        if changeCount == 0 { return entry }
        guard changeCount == count else {
            throw VaultError(damaged: .encoding, "a line of the audit log has too few changes")
        }
        for position in entry.subjects.indices {
            entry.subjects[position].targets = try reader.optionalText(limit: textLimit)
            entry.subjects[position].version = try reader.uint64()
        }
        guard entry.subjects.contains(where: \.isChange) else {
            throw VaultError(damaged: .encoding, "a line of the audit log has empty changes")
        }
        return entry
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textLimit else { return text }
        var text = text
        while text.utf8.count > textLimit { text.removeLast() }
        return text
    }
}
