/// What becomes of one record.
struct RecordFuture: Equatable {
    /// The targets that stay in the record.
    var kept = TargetSet()
    /// The targets that join it once they are free.
    var joining = TargetSet()
    /// What it has afterwards; the version is nil if it stays and is no version of the vault.
    var version: Version?
    var type: ValueType
    var comment: String?

    var content: Content? { version.map { Content($0, type, comment: comment) } }
}
