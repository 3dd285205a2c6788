/// The 16 bytes that begin each kind of object, signed text and sealed text, so that none can
/// stand for another.
package enum GroupLabel: String, CaseIterable, Sendable {
    case change = "zg-env/change/1\n"
    case entry = "zg-env/entry/1\n"
    case invite = "zg-env/invite/1\n"
    case join = "zg-env/join/1\n"
    case indexBox = "zg-env/index"
    case valueBox = "zg-env/value"
    case indexKey = "zg-env/index-key"
    case rung = "zg-env/rung"
    case version = "zg-env/version"
    case dataKey = "zg-env/data-key"
    case chunk = "zg-env/chunk"
    case codeSigning = "zg-env/code-sign"
    case codeMAC = "zg-env/code-mac"
    case state = "zg-env/state"
    case checkWords = "zg-env/words"
    case report = "zg-env/report/1\n"

    package static let byteCount = 16

    /// The text, filled up with zeros.
    package var bytes: [UInt8] {
        let text = Array(rawValue.utf8)
        return text + [UInt8](repeating: 0, count: Self.byteCount - text.count)
    }

    /// The text up to and including the second slash, after which the version follows.
    private var stem: [UInt8] {
        let text = Array(rawValue.utf8)
        guard let slash = text.lastIndex(of: UInt8(ascii: "/")) else { return text }
        return Array(text[...slash])
    }

    /// Checks the size and the label of an object, before anything is read or allocated.
    func check(_ object: [UInt8], limit: Int) throws(GroupError) {
        guard object.count >= Self.byteCount, object.count <= limit else {
            throw GroupError(.length, "a group object has an invalid size")
        }
        guard !object.starts(with: bytes) else { return }
        throw object.starts(with: stem)
            ? GroupError(.newer, "a group object has a newer format")
            : GroupError(.label, "a group object is of the wrong kind")
    }
}
