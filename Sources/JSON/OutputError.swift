/// A failure of an output or of what writes to it.
package enum OutputError: Error, Sendable, Equatable {
    /// The reader has gone (EPIPE), or there never was one: the descriptor was closed, or open for
    /// reading alone (EBADF). A program ends quietly, as if by SIGPIPE: code 141.
    case closed
    /// The system refused, with its `errno`.
    case system(errno: Int32)
    /// A text for JSON is not UTF-8.
    case invalidUTF8
    /// Calls to a ``JSONWriter`` that do not add up to one JSON value.
    case invalidStructure
    /// No guarded memory left for a value that was to be written into it.
    case outOfMemory
}
