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
    let ending: HiddenInputEnding
    /// Bytes in the buffer.
    private(set) var count = 0
    /// Bytes typed after the buffer was full. Backspace removes these first.
    private(set) var surplus = 0

    init(controls: Controls, ending: HiddenInputEnding) {
        self.controls = controls
        self.ending = ending
    }

    mutating func take(_ byte: UInt8, into buffer: inout MutableRawSpan) -> Outcome {
        if ending == .enter, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
            return .done
        }
        if byte == controls.endOfInput {
            return ending == .enter && count + surplus == 0 ? .cancelled : .done
        }
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

    /// Removes the last line.
    private mutating func eraseLine(in buffer: inout MutableRawSpan) {
        surplus = 0
        while count > 0, last(of: buffer) != UInt8(ascii: "\n") { _ = removeLast(of: &buffer) }
    }

    private func last(of buffer: borrowing MutableRawSpan) -> UInt8 {
        unsafe buffer.bytes.unsafeLoad(fromByteOffset: count - 1, as: UInt8.self)
    }

    private mutating func removeLast(of buffer: inout MutableRawSpan) -> UInt8 {
        let byte = last(of: buffer)
        count -= 1
        buffer.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return byte
    }
}

/// The key that ends the input of a hidden prompt.
package enum HiddenInputEnding: Sendable, Equatable {
    /// The Enter key, or `^D` after something was typed.
    case enter
    /// Only `^D`, so that the input can have several lines.
    case endOfInput
}
