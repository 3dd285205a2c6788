/// A failed output.
package enum OutputError: Error, Sendable, Equatable {
    /// The read end is closed (EPIPE), or the descriptor was never writable (EBADF). A program
    /// exits silently with 141, as after SIGPIPE.
    case closed
    /// The system call failed with this `errno`.
    case system(errno: Int32)
    /// A string for JSON is not valid UTF-8.
    case invalidUTF8
    /// The calls to a ``JSONWriter`` do not form one JSON value.
    case invalidStructure
    /// No guarded memory is left for a value.
    case outOfMemory
}
