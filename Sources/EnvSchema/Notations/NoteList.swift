/// Notes up to a limit, because a hostile file may deserve one for every few bytes.
///
/// A class, so that the readers of a file's parts fill one list without copies.
final class NoteList {
    /// The most notes of a file. Further ones are dropped.
    static let maximumCount = 10_000
    /// The longest name in a note, in bytes. A longer one is cut.
    static let maximumNameLength = 256

    private(set) var notes: [SchemaNote] = []

    func add(
        _ code: SchemaNote.Code, key: String? = nil, decorator: String? = nil, line: Int,
        subject: String? = nil
    ) {
        guard notes.count < Self.maximumCount else { return }
        var note = SchemaNote(
            code, key: key.map(Self.cut), decorator: decorator.map(Self.cut), line: line)
        note.subject = subject.map(Self.cut)
        notes.append(note)
    }

    /// In the order of their lines. Those of one line stay in the order in which they were made.
    var sorted: [SchemaNote] { notes.sorted { $0.line < $1.line } }

    static func cut(_ name: String) -> String {
        guard name.utf8.count > maximumNameLength else { return name }
        return String(decoding: name.utf8.prefix(maximumNameLength), as: UTF8.self)
    }
}
