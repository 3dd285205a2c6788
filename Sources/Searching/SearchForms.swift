internal import Sealing

/// Puts the forms of values into a table.
struct SearchForms {
    private let table: SearchTable
    private var value = 0
    /// Digests of what was added of one value: many of its forms are the same.
    private var known: Set<[UInt8]> = []

    init(in table: SearchTable) {
        self.table = table
    }

    /// Adds every form of a value. Blanks and line breaks at its ends make no difference.
    mutating func add(
        _ whole: SecretSlice, number: Int, by buffer: inout SecretBuffer
    ) throws(SealingError) {
        let trimmed = Self.trimmed(whole)
        guard trimmed.count >= SearchTable.shortest else { return }
        (value, known) = (number, [])
        try trimmed.withBytes { (value) throws(SealingError) in
            for rule in FormRule.all {
                buffer.removeLast(buffer.count)
                try rule.write(value, to: &buffer)
                try buffer.withBytes { (form) throws(SealingError) in try exact(form, rule.form) }
            }
            try pem(value, by: &buffer)
            for offset in 0..<3 {
                buffer.removeLast(buffer.count)
                let dependsOnNext = try Base64Form.write(value, after: offset, to: &buffer)
                if dependsOnNext { buffer.removeLast(1) }
                try buffer.withBytes { (form) throws(SealingError) in try loose(form, .base64) }
            }
        }
    }

    static func trimmed(_ value: SecretSlice) -> SecretSlice {
        value.withBytes { bytes in
            var (start, end) = (0, bytes.byteCount)
            while start < end, Blank.isBlank(bytes.byte(at: start)) { start += 1 }
            while end > start, Blank.isBlank(bytes.byte(at: end - 1)) { end -= 1 }
            return value.part(start..<end)
        }
    }

    /// Adds a pattern and returns its number; nil where the value has it already.
    private mutating func add(
        _ bytes: RawSpan, _ form: ValueForm, isLoose: Bool
    ) throws(SealingError) -> Int? {
        let digest = try table.digest(bytes)
        guard known.insert(digest).inserted else { return nil }
        return table.add(
            .init(
                value: value, form: form, count: bytes.byteCount, isLoose: isLoose, digest: digest))
    }

    // MARK: Exact forms

    private mutating func exact(_ bytes: RawSpan, _ form: ValueForm) throws(SealingError) {
        // In UTF-16 three characters have six bytes, where UTF-8 may take nine.
        guard bytes.byteCount >= SearchTable.windowByteCount else { return }
        guard let pattern = try add(bytes, form, isLoose: false) else { return }
        let offset = Self.rarest(in: bytes)
        table.anchor(
            bytes.extracting(offset..<offset + SearchTable.windowByteCount), of: pattern,
            offset: offset)
    }

    /// Where the window begins that is met by chance least often, as far as its bytes tell: many
    /// different ones, and digits and capitals. A window that is everywhere costs time, nothing else.
    private static func rarest(in bytes: RawSpan) -> Int {
        var (best, place) = (-1, 0)
        let count = SearchTable.windowByteCount
        for start in 0...min(bytes.byteCount - count, 4_096) {
            var (low, high): (UInt64, UInt64) = (0, 0)
            var score = 0
            for offset in start..<start + count {
                let byte = bytes.byte(at: offset)
                if byte & 0x40 == 0 { low |= 1 << UInt64(byte & 63) }
                if byte & 0x40 != 0 { high |= 1 << UInt64(byte & 63) }
                if (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) { score += 1 }
            }
            score += 2 * (low.nonzeroBitCount + high.nonzeroBitCount)
            if score > best { (best, place) = (score, start) }
        }
        return place
    }

    // MARK: Loose forms

    /// The bodies of PEM blocks, without their line breaks, also where those are written `\n`.
    private mutating func pem(
        _ bytes: RawSpan, by body: inout SecretBuffer
    ) throws(SealingError) {
        let dashes = [UInt8](repeating: 0x2D, count: 5)
        func isDashes(_ place: Int) -> Bool {
            place + 5 <= bytes.byteCount
                && dashes.indices.allSatisfy { bytes.byte(at: place + $0) == dashes[$0] }
        }
        var place = 0
        // Each second run of dashes ends a line of BEGIN or END; what is base64 behind it is a body.
        while place < bytes.byteCount {
            guard isDashes(place) else {
                place += 1
                continue
            }
            place += 5
            body.removeLast(body.count)
            while place < bytes.byteCount, !isDashes(place) {
                let unit = LooseText.forward(bytes, place)
                if let byte = unit.byte { try body.append(byte) }
                place = unit.next
            }
            try body.withBytes { (body) throws(SealingError) in
                let isBase64 = (0..<body.byteCount).allSatisfy {
                    LooseText.isBase64(body.byte(at: $0))
                }
                if isBase64, body.byteCount >= 24 { try loose(body, .pem) }
            }
        }
    }

    /// Bytes of base64 in which line breaks make no difference.
    private mutating func loose(_ bytes: RawSpan, _ form: ValueForm) throws(SealingError) {
        guard let pattern = try add(bytes, form, isLoose: true) else { return }
        let count = SearchTable.windowByteCount
        // Of three neighbours a break of a line leaves two, where lines have 24 bytes and more.
        let isShort = bytes.byteCount < 3 * count
        let first = isShort ? 0 : (bytes.byteCount - 3 * count) / 2
        for offset in stride(from: first, to: isShort ? 1 : first + 3 * count, by: count) {
            window(bytes.extracting(offset..<offset + count), of: pattern, offset)
        }
        guard isShort else { return }
        // No room for neighbours: so the window with the break in it.
        for lineEnd in [[0x0A], [0x0D, 0x0A]] as [[UInt8]] {
            for breaking in 1..<count {
                var broken = (0..<count).map { bytes.byte(at: $0) }
                broken.insert(contentsOf: lineEnd, at: breaking)
                defer { for place in broken.indices { broken[place] = 0 } }
                broken.withBytes { window($0.extracting(first: count), of: pattern, 0) }
            }
        }
    }

    /// A window in both alphabets.
    private func window(_ bytes: RawSpan, of pattern: Int, _ offset: Int) {
        table.anchor(bytes, of: pattern, offset: offset)
        var other = (0..<bytes.byteCount).map { LooseText.urlSafe(bytes.byte(at: $0)) }
        defer { for place in other.indices { other[place] = 0 } }
        let isSame = other.indices.allSatisfy { other[$0] == bytes.byte(at: $0) }
        if !isSame { other.withBytes { table.anchor($0, of: pattern, offset: offset) } }
    }
}

/// What is no part of a value at its ends, and of no weight in base64.
enum Blank {
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
