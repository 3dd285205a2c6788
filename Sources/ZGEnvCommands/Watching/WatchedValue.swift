internal import CommandLineKit
internal import Sealing
internal import Vault

/// The value of a variable for the screen, opened and audited as by `reveal`, and always kept in
/// guarded memory.
struct WatchedValue {
    let name: String
    private let value: SecretSlice

    /// Asks for the passphrase unless the settings say otherwise, and opens one value. Removes the
    /// values' keys from the session afterwards.
    init(_ id: Identifier, in project: VaultProject, _ workspace: Workspace) throws {
        let session = workspace.session
        defer { try? session.keepIndexTierOnly() }
        let keys =
            try session.keys(
                .values,
                asking: Settings(workspace.context).isOn(.revealFromCache) ? .ifNeeded : .always)
        // The screen cannot ask to accept changes, so unaccepted values are not shown.
        let (vault, index, record) = try AcceptanceGate(workspace, asks: false).open(
            .currentValues, with: keys
        ) { index in
            guard let record = index.variables(of: project.id).first(where: { $0.id == id }) else {
                throw CommandError(.notFound, "This variable is no longer in the vault.")
            }
            let use = CheckpointUse.Values(
                of: project.id, found: .name, at: index.positions(of: [record])
            ) { _, _ in false }
            return (.values(use), record)
        }
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        guard let value = try reader.currentValue(of: record, in: SecretArena()) else {
            throw CommandError(
                .notFound,
                "The vault has no value for \(record.name), because Vercel did not show it."
            )
        }
        try workspace.audit(
            AuditEntry.Outcome.givenOut, [record.name], project: project.name,
            place: record.attributes.scope.description, command: Reveal.spec.name,
            seen: index.metadata)
        (name, self.value) = (record.name, value)
    }

    /// Returns the terminal output for the value in the given rows, cut at their end. Control
    /// characters appear as hexadecimal escapes.
    ///
    /// - Returns: The output, and whether it contains the whole value.
    func painted(
        rows: Range<Int>, columns: Int
    ) throws(SealingError) -> (bytes: SecretBox, isWhole: Bool) {
        let box = SecretBox(try SecretBuffer(capacity: 16 << 10))
        var (row, column) = (rows.lowerBound, 0)
        var isWhole = true
        func go() throws(SealingError) {
            try box.append("\u{1B}[\(row + 1);1H")
            column = 0
        }
        try go()
        try value.withBytes { (bytes) throws(SealingError) in
            var place = 0
            while place < bytes.byteCount {
                guard row < rows.upperBound else {
                    isWhole = false
                    return
                }
                let (scalar, length) = Self.scalar(bytes, place)
                if scalar == "\n" {
                    (place, row) = (place + 1, row + 1)
                    if row < rows.upperBound { try go() }
                    continue
                }
                let shown = scalar.flatMap { DisplayText.width(ofSafe: $0) }
                let width = shown ?? 4 * length
                if column + width > columns, column > 0 {
                    row += 1
                    if row < rows.upperBound { try go() }
                    continue
                }
                for offset in place..<(place + length) {
                    let byte = bytes.byte(at: offset)
                    if shown != nil {
                        try box.append(byte)
                    } else {
                        for digit in [0x5C, 0x78, Self.digit(byte >> 4), Self.digit(byte & 15)] {
                            try box.append(digit)
                        }
                    }
                }
                (place, column) = (place + length, column + width)
            }
        }
        return (box, isWhole)
    }

    private static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? 0x30 + number : 0x37 + number
    }

    /// Returns the character at an offset and its length; nil and 1 for invalid UTF-8.
    private static func scalar(_ bytes: RawSpan, _ place: Int) -> (Unicode.Scalar?, Int) {
        let first = bytes.byte(at: place)
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        if length == 1 { return (Unicode.Scalar(first), 1) }
        guard first >= 0xC2, first < 0xF5, place + length <= bytes.byteCount else {
            return (nil, 1)
        }
        var number = UInt32(first) & (0x7F >> UInt32(length))
        for offset in 1..<length {
            let byte = bytes.byte(at: place + offset)
            guard byte & 0xC0 == 0x80 else { return (nil, 1) }
            number = number << 6 | UInt32(byte & 0x3F)
        }
        let least: [UInt32] = [0, 0, 0x80, 0x800, 0x10000]
        guard number >= least[length], let scalar = Unicode.Scalar(number) else { return (nil, 1) }
        return (scalar, length)
    }

    /// A buffer that closures can append to.
    final class SecretBox {
        private var buffer: SecretBuffer

        init(_ buffer: consuming SecretBuffer) { self.buffer = buffer }

        func append(_ byte: UInt8) throws(SealingError) { try buffer.append(byte) }
        func append(_ text: String) throws(SealingError) {
            for byte in text.utf8 { try buffer.append(byte) }
        }
        func withBytes<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
            try buffer.withBytes(body)
        }
    }
}
