/// An entry where it stands in its account's subject.
///
/// The stream is asked to refuse an entry that does not name the last one before it, and servers before
/// 2.9.21 do not always: of two relays that write at the same moment both may be told that theirs is kept.
/// The order of the stream is the same for all readers, so it decides: an entry counts if the one that it
/// names stands right before it. Whoever wrote one that does not count writes it again, behind it.
struct PlacedEntry: Equatable, Sendable {
    var sequence: Int64
    /// The number of the subject's message before; 0 where there was none then.
    var before: Int64
    var entry: LogEntry

    /// The first entry of a subject needs no neighbour: that there was none, servers look at when the order
    /// is agreed on.
    var counts: Bool { entry.previous == 0 || entry.previous == before }

    init(_ entry: LogEntry, sequence: Int64, before: Int64) {
        (self.entry, self.sequence) = (entry, sequence)
        self.before = entry.previous == 0 ? 0 : before
    }
}
