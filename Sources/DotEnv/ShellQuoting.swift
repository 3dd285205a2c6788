/// Tracks the quoting of a word byte by byte, as systemd or a shell does.
struct ShellQuoting {
    private enum State {
        case outside
        /// In a bare word of systemd, where quotes are ordinary characters.
        case bare
        case single
        case double
    }

    /// What one step adds to the value.
    enum Output {
        case nothing
        /// The last byte that was read.
        case last
        /// A backslash and then the last byte that was read.
        case backslashAndLast
    }

    private var state = State.outside

    /// Consumes one byte, or two after a backslash.
    mutating func step(
        _ text: SourceText, _ index: Int, _ end: Int, isSystemd: Bool
    ) -> (width: Int, output: Output) {
        let byte = text[index]
        switch state {
        case .outside, .bare:
            if byte == Byte.backslash {
                if isSystemd { state = .bare }
                guard index + 1 < end else { return (1, isSystemd ? .nothing : .last) }
                let next = text[index + 1]
                let isJoined =
                    next == Byte.lineFeed || (isSystemd && next == Byte.carriageReturn)
                return (2, isJoined ? .nothing : .last)
            }
            if state == .outside {
                if byte == Byte.singleQuote {
                    state = .single
                    return (1, .nothing)
                }
                if byte == Byte.doubleQuote {
                    state = .double
                    return (1, .nothing)
                }
                if isSystemd {
                    if byte == Byte.space || byte == Byte.tab { return (1, .nothing) }
                    state = .bare
                }
            }
            return (1, .last)
        case .single:
            if byte == Byte.singleQuote {
                state = .outside
                return (1, .nothing)
            }
            return (1, .last)
        case .double:
            if byte == Byte.doubleQuote {
                state = .outside
                return (1, .nothing)
            }
            guard byte == Byte.backslash else { return (1, .last) }
            guard index + 1 < end else { return (1, isSystemd ? .nothing : .last) }
            let next = text[index + 1]
            if next == Byte.lineFeed { return (2, .nothing) }
            let isEscapable =
                next == Byte.doubleQuote || next == Byte.backslash || next == Byte.dollar
                || next == Byte.backtick
            return (2, isEscapable ? .last : .backslashAndLast)
        }
    }

    /// Returns whether the byte is literal in the current state.
    func isPlain(_ byte: UInt8, isSystemd: Bool) -> Bool {
        switch state {
        case .bare: return byte != Byte.backslash
        case .single: return byte != Byte.singleQuote
        case .double: return byte != Byte.doubleQuote && byte != Byte.backslash
        case .outside:
            return !isSystemd && byte != Byte.backslash && byte != Byte.singleQuote
                && byte != Byte.doubleQuote
        }
    }
}
