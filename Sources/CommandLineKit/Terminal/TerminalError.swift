/// An error of a terminal prompt.
package enum TerminalError: Error, Sendable, Equatable {
    /// There is no terminal, or it cannot be opened.
    case noTerminal(errno: Int32)
    /// A system call failed.
    case system(errno: Int32)
    /// The input is longer than the buffer. None of it is kept.
    case tooLong(limit: Int)
    /// Several lines arrived at once where one was expected, such as a pasted key file. None of them
    /// is kept.
    case severalLines
    /// The input ended without a character (`^D`), or the terminal was closed.
    case endOfInput
    /// A signal was recorded in a section of ``Interrupts/deferred(_:)``.
    case interrupted
}
