/// Writes one compact JSON value incrementally, with members in the order given.
///
/// Calls that do not form one value throw ``OutputError/invalidStructure``: a name in place of a
/// value, a second top-level value, or an unmatched end.
package struct JSONWriter<Sink: ByteSink & ~Copyable>: ~Copyable {
    private enum Level {
        case object, array
    }

    private var sink: Sink
    private var levels: [Level] = []
    /// Whether the current level has an element, so that the next one needs a comma.
    private var hasElements = false
    /// Whether a member's value is due.
    private var awaitsValue = false
    private var isComplete = false

    package init(to sink: consuming Sink) {
        self.sink = sink
    }

    /// Completes the value and returns the sink.
    package consuming func finish() throws(OutputError) -> Sink {
        guard isComplete, levels.isEmpty else { throw .invalidStructure }
        return sink
    }

    package mutating func beginObject() throws(OutputError) { try begin(.object, "{") }
    package mutating func endObject() throws(OutputError) { try end(.object, "}") }
    package mutating func beginArray() throws(OutputError) { try begin(.array, "[") }
    package mutating func endArray() throws(OutputError) { try end(.array, "]") }

    private mutating func begin(_ level: Level, _ mark: String) throws(OutputError) {
        try beginValue()
        try sink.write(mark)
        levels.append(level)
        hasElements = false
    }

    private mutating func end(_ level: Level, _ mark: String) throws(OutputError) {
        guard levels.last == level, !awaitsValue else { throw .invalidStructure }
        try sink.write(mark)
        levels.removeLast()
        endValue()
    }

    /// Writes an object with the members that `members` writes.
    package mutating func object(
        _ members: (inout Self) throws(OutputError) -> Void
    ) throws(OutputError) {
        try beginObject()
        try members(&self)
        try endObject()
    }

    /// Writes an array with the elements that `values` writes.
    package mutating func array(
        _ values: (inout Self) throws(OutputError) -> Void
    ) throws(OutputError) {
        try beginArray()
        try values(&self)
        try endArray()
    }

    package mutating func member(_ name: String, _ value: JSONValue) throws(OutputError) {
        try self.name(name)
        try self.value(value)
    }

    package mutating func member(_ name: String, _ text: String) throws(OutputError) {
        try self.name(name)
        try string(text)
    }

    package mutating func member(_ name: String, _ texts: [String]) throws(OutputError) {
        try member(name, .strings(texts))
    }

    package mutating func name(_ name: String) throws(OutputError) {
        guard levels.last == .object, !awaitsValue else { throw .invalidStructure }
        if hasElements { try sink.write(",") }
        unsafe try JSONText.write(name.utf8Span.span.bytes, to: &sink)
        try sink.write(":")
        awaitsValue = true
    }

    package mutating func string(_ text: String) throws(OutputError) {
        unsafe try string(utf8: text.utf8Span.span.bytes)
    }

    /// Writes a string from bytes that the caller owns, such as a secret. Only the sink makes a
    /// copy.
    ///
    /// - Throws: ``OutputError/invalidUTF8`` before anything is written.
    package mutating func string(utf8 bytes: RawSpan) throws(OutputError) {
        guard UTF8Check.isValid(bytes) else { throw .invalidUTF8 }
        try beginValue()
        try JSONText.write(bytes, to: &sink)
        endValue()
    }

    package mutating func integer(_ number: some FixedWidthInteger) throws(OutputError) {
        try literal(String(number))
    }

    package mutating func bool(_ value: Bool) throws(OutputError) {
        try literal(value ? "true" : "false")
    }

    package mutating func null() throws(OutputError) {
        try literal("null")
    }

    package mutating func value(_ value: JSONValue) throws(OutputError) {
        switch value {
        case .null: try null()
        case .bool(let bool): try self.bool(bool)
        case .integer(let number): try integer(number)
        case .number(let number): try literal("\(number)")
        case .string(let text): try string(text)
        case .array(let elements):
            try beginArray()
            for element in elements { try self.value(element) }
            try endArray()
        case .object(let members):
            try beginObject()
            for member in members {
                try name(member.name)
                try self.value(member.value)
            }
            try endObject()
        }
    }

    /// Writes a number or keyword that is already in JSON syntax.
    mutating func literal(_ text: String) throws(OutputError) {
        try beginValue()
        try sink.write(text)
        endValue()
    }

    private mutating func beginValue() throws(OutputError) {
        switch levels.last {
        case nil:
            guard !isComplete else { throw .invalidStructure }
        case .object:
            guard awaitsValue else { throw .invalidStructure }
            awaitsValue = false
        case .array:
            if hasElements { try sink.write(",") }
        }
    }

    private mutating func endValue() {
        hasElements = true
        isComplete = levels.isEmpty
    }
}
