/// An entry at its position in the account's subject.
///
/// The stream should refuse an entry that does not name its predecessor, but servers before 2.9.21
/// sometimes accept both of two simultaneous writes. The stream's order is the same for all
/// readers, so it decides: an entry counts if the one that it names directly precedes it. The
/// writer of an entry that does not count writes it again after it.
struct PlacedEntry: Equatable, Sendable {
    var sequence: Int64
    /// The number of the subject's previous message; 0 if there was none.
    var before: Int64
    var entry: LogEntry

    /// The first entry of a subject needs no predecessor: servers check that the subject is
    /// empty when they agree on the order.
    var counts: Bool { entry.previous == 0 || entry.previous == before }

    init(_ entry: LogEntry, sequence: Int64, before: Int64) {
        (self.entry, self.sequence) = (entry, sequence)
        self.before = entry.previous == 0 ? 0 : before
    }
}
