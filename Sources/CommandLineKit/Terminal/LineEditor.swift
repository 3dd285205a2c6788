/// The line editing of a hidden prompt, independent of a terminal.
///
/// The terminal's own line editing (canonical mode) is unsuitable: it silently drops everything
/// after the first 4095 bytes of a line.
struct LineEditor {
    enum Outcome: Equatable {
        case needsMore, done, cancelled
    }

    /// The control bytes, as the terminal is configured.
    struct Controls {
        var erase: [UInt8] = [0x7F, 0x08]
        var kill: UInt8 = 0x15
        var endOfInput: UInt8 = 0x04
    }

    let controls: Controls
    /// Bytes in the buffer.
    private(set) var count = 0
    /// Bytes typed after the buffer was full. Backspace removes these first.
    private(set) var surplus = 0

    mutating func take(_ byte: UInt8, into buffer: inout MutableRawSpan) -> Outcome {
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { return .done }
        if byte == controls.endOfInput { return count + surplus == 0 ? .cancelled : .done }
        if controls.erase.contains(byte) {
            erase(in: &buffer)
        } else if byte == controls.kill {
            eraseLine(in: &buffer)
        } else if surplus == 0, count < buffer.byteCount {
            buffer.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
            count += 1
        } else {
            surplus += 1
        }
        return .needsMore
    }

    /// Removes the last character with all its UTF-8 bytes.
    private mutating func erase(in buffer: inout MutableRawSpan) {
        // Surplus bytes are not stored, so their character boundaries are unknown.
        guard surplus == 0 else {
            surplus -= 1
            return
        }
        while count > 0 {
            let isContinuation = removeLast(of: &buffer) & 0xC0 == 0x80
            if !isContinuation { return }
        }
    }

    private mutating func eraseLine(in buffer: inout MutableRawSpan) {
        surplus = 0
        while count > 0 { _ = removeLast(of: &buffer) }
    }

    private mutating func removeLast(of buffer: inout MutableRawSpan) -> UInt8 {
        count -= 1
        let byte = unsafe buffer.bytes.unsafeLoad(fromByteOffset: count, as: UInt8.self)
        buffer.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return byte
    }
}
