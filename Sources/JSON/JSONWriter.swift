/// Writes one JSON value piece by piece, compact, members in the order given.
///
/// Calls that do not add up to one value throw ``OutputError/invalidStructure``: a name where a
/// value belongs, a second value at the top, an end without a beginning.
package struct JSONWriter<Sink: ByteSink & ~Copyable>: ~Copyable {
    private enum Level {
        case object, array
    }

    private var sink: Sink
    private var levels: [Level] = []
    /// Whether the level has an element, so that a comma comes before the next.
    private var hasElements = false
    /// Whether a name was written whose value is still to come.
    private var awaitsValue = false
    private var isComplete = false

    /// Makes a writer that owns a sink.
    package init(to sink: consuming Sink) {
        self.sink = sink
    }

    /// Ends the value and gives the sink back.
    package consuming func finish() throws(OutputError) -> Sink {
        guard isComplete, levels.isEmpty else { throw .invalidStructure }
        return sink
    }

    /// Begins an object.
    package mutating func beginObject() throws(OutputError) {
        try beginValue()
        try sink.write("{")
        levels.append(.object)
        hasElements = false
    }

    /// Ends the object.
    package mutating func endObject() throws(OutputError) {
        guard levels.last == .object, !awaitsValue else { throw .invalidStructure }
        try sink.write("}")
        levels.removeLast()
        endValue()
    }

    /// Begins an array.
    package mutating func beginArray() throws(OutputError) {
        try beginValue()
        try sink.write("[")
        levels.append(.array)
        hasElements = false
    }

    /// Ends the array.
    package mutating func endArray() throws(OutputError) {
        guard levels.last == .array else { throw .invalidStructure }
        try sink.write("]")
        levels.removeLast()
        endValue()
    }

    /// Writes an object of the members that `members` writes.
    package mutating func object(
        _ members: (inout Self) throws(OutputError) -> Void
    ) throws(OutputError) {
        try beginObject()
        try members(&self)
        try endObject()
    }

    /// Writes an array of the values that `values` writes.
    package mutating func array(
        _ values: (inout Self) throws(OutputError) -> Void
    ) throws(OutputError) {
        try beginArray()
        try values(&self)
        try endArray()
    }

    /// Writes a member.
    package mutating func member(_ name: String, _ value: JSONValue) throws(OutputError) {
        try self.name(name)
        try self.value(value)
    }

    /// Writes a member whose value is a text.
    package mutating func member(_ name: String, _ text: String) throws(OutputError) {
        try self.name(name)
        try string(text)
    }

    /// Writes a member whose value is a list of texts.
    package mutating func member(_ name: String, _ texts: [String]) throws(OutputError) {
        try member(name, .strings(texts))
    }

    /// Writes the name of the next member.
    package mutating func name(_ name: String) throws(OutputError) {
        guard levels.last == .object, !awaitsValue else { throw .invalidStructure }
        if hasElements { try sink.write(",") }
        unsafe try JSONText.write(name.utf8Span.span.bytes, to: &sink)
        try sink.write(":")
        awaitsValue = true
    }

    /// Writes a string.
    package mutating func string(_ text: String) throws(OutputError) {
        unsafe try string(utf8: text.utf8Span.span.bytes)
    }

    /// Writes a string from bytes that the caller keeps, such as a secret: no copy is made but what
    /// the sink keeps.
    ///
    /// - Throws: ``OutputError/invalidUTF8`` before anything is written.
    package mutating func string(utf8 bytes: RawSpan) throws(OutputError) {
        guard UTF8Check.isValid(bytes) else { throw .invalidUTF8 }
        try beginValue()
        try JSONText.write(bytes, to: &sink)
        endValue()
    }

    /// Writes a whole number.
    package mutating func integer(_ number: some FixedWidthInteger) throws(OutputError) {
        try literal(String(number))
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) throws(OutputError) {
        try literal(value ? "true" : "false")
    }

    /// Writes `null`.
    package mutating func null() throws(OutputError) {
        try literal("null")
    }

    /// Writes a value made beforehand.
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

    /// Writes a number, or one of the three words, as it is spelled.
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
