/// Where sealed answers lie. ``PosixAnswerStore`` is the real one.
package protocol AnswerStore {
    /// The bytes of a file; nil where there is none, or one that cannot be taken for one of ours.
    func read(_ name: String) -> [UInt8]?

    /// Puts a file in place, whole or not at all.
    func write(_ bytes: [UInt8], to name: String) throws(AnswerStoreError)

    /// Removes a file; one that is not there is no error.
    func remove(_ name: String) throws(AnswerStoreError)

    /// All files of the cache, in no order; left-overs of writers that were killed are among them.
    func files() throws(AnswerStoreError) -> [AnswerPolicy.File]
}

/// Why answers cannot be kept. Never the failure of a command.
package struct AnswerStoreError: Error, Equatable {
    /// One sentence without capital and full stop, with the path.
    package let reason: String

    /// Names the reason.
    package init(_ reason: String) { self.reason = reason }
}
