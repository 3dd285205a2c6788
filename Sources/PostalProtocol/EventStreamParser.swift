/// An incremental parser of server-sent events.
///
/// The bytes come from a relay and are untrusted: a line or event longer than ``byteLimit`` is
/// dropped and counted, and parsing continues after it. At most two such lengths are buffered.
package struct EventStreamParser: Sendable {
    package struct Event: Equatable, Sendable {
        /// The field `event`; "message" by default.
        package var name: String
        /// The field `id` of this event.
        package var id: String?
        /// The `data` lines, joined by line feeds.
        package var data: [UInt8]

        package init(name: String, id: String?, data: [UInt8]) {
            (self.name, self.id, self.data) = (name, id, data)
        }
    }

    /// Most bytes of a line, and of all fields of an event.
    package static let byteLimit = 8 << 10

    /// Number of events dropped because they were too long.
    package private(set) var lostCount = 0
    /// Number of comments and events received, as a sign of life.
    package private(set) var signCount = 0

    private var line: [UInt8] = []
    private var isLineTooLong = false
    private var endedWithReturn = false
    private var isFirstLine = true

    private var name: [UInt8] = []
    private var id: [UInt8]?
    private var data: [UInt8] = []
    private var hasData = false
    private var isTooLong = false

    package init() {}

    /// Parses further bytes, and calls `onEvent` for each event that they complete.
    package mutating func take(_ bytes: [UInt8], onEvent: (Event) -> Void) {
        for byte in bytes {
            let follows = endedWithReturn
            endedWithReturn = byte == UInt8(ascii: "\r")
            switch byte {
            case UInt8(ascii: "\n") where follows: continue
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): endLine(onEvent)
            case _ where isLineTooLong: continue
            case _ where line.count == Self.byteLimit:
                isLineTooLong = true
            default: line.append(byte)
            }
        }
    }

    private mutating func endLine(_ onEvent: (Event) -> Void) {
        defer {
            line.removeAll(keepingCapacity: true)
            (isLineTooLong, isFirstLine) = (false, false)
        }
        if isLineTooLong {
            // A comment may be of any length.
            if line.first != UInt8(ascii: ":") { isTooLong = true }
            return
        }
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        if line.isEmpty { return endEvent(onEvent) }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        if colon == 0 {
            signCount &+= 1
            return
        }
        let field = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        guard name.count + (id?.count ?? 0) + data.count + value.count < Self.byteLimit else {
            isTooLong = true
            return
        }
        if field.elementsEqual("data".utf8) {
            if hasData { data.append(UInt8(ascii: "\n")) }
            data += value
            hasData = true
        } else if field.elementsEqual("event".utf8) {
            name = Array(value)
        } else if field.elementsEqual("id".utf8), !value.contains(0) {
            id = Array(value)
        }
    }

    private mutating func endEvent(_ onEvent: (Event) -> Void) {
        defer {
            (name, id, data) = ([], nil, [])
            (hasData, isTooLong) = (false, false)
        }
        if isTooLong {
            lostCount &+= 1
        } else if hasData {
            signCount &+= 1
            onEvent(
                Event(
                    name: name.isEmpty ? "message" : String(decoding: name, as: UTF8.self),
                    id: id.map { String(decoding: $0, as: UTF8.self) }, data: data))
        }
    }
}
