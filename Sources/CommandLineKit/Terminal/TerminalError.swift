/// A failure to ask at a terminal.
package enum TerminalError: Error, Sendable, Equatable {
    /// There is no terminal to ask at, or it cannot be opened.
    case noTerminal(errno: Int32)
    /// The system refused, with its `errno`.
    case system(errno: Int32)
    /// More was typed than the buffer holds. Nothing of it is kept.
    case tooLong
    /// Several lines came at once where one was asked for, as when a key file is pasted. Nothing of
    /// them is kept.
    case severalLines
    /// The input ended with nothing typed (`^D`), or the terminal went away.
    case endOfInput
    /// A signal was noted in a section of ``Interrupts/deferred(_:)``.
    case interrupted
}
