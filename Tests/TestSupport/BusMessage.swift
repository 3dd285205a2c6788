/// The part of D-Bus messages that tests need: strings, object paths, arrays of paths and bytes.
///
/// After the D-Bus specification, "Message Protocol"; little-endian only.
struct BusMessage {
    /// One argument.
    enum Argument {
        case string(String)
        case path(String)
        case paths([String])
        case strings([String])
        case number(UInt32)
        case variant(String)
        /// A `(oayays)`: the secret of an item, in a session without encryption.
        case secret(session: String, bytes: [UInt8])
        case flag(Bool)
        /// An `a{sv}` with the label and the attributes of an item.
        case item(label: String, attributes: [String: String])
        /// An empty `a{ss}`.
        case noAttributes
        /// An empty `a{sv}`.
        case noProperties

        var signature: String {
            switch self {
            case .string: "s"
            case .path: "o"
            case .paths: "ao"
            case .strings: "as"
            case .number: "u"
            case .variant: "v"
            case .secret: "(oayays)"
            case .flag: "b"
            case .item: "a{sv}"
            case .noAttributes: "a{ss}"
            case .noProperties: "a{sv}"
            }
        }
    }

    private(set) var bytes: [UInt8] = []

    /// One field of a header.
    enum Field {
        case path(String)
        case interface(String)
        case member(String)
        case replySerial(UInt32)
        case destination(String)
    }

    /// The bytes of a method call.
    static func call(
        serial: UInt32, to name: String, path: String, interface: String, member: String,
        _ arguments: [Argument]
    ) -> [UInt8] {
        message(
            1, serial: serial,
            [.path(path), .interface(interface), .member(member), .destination(name)], arguments)
    }

    /// The bytes of a reply without arguments.
    static func reply(serial: UInt32, to name: String, call: UInt32) -> [UInt8] {
        message(2, serial: serial, [.replySerial(call), .destination(name)], [])
    }

    private static func message(
        _ type: UInt8, serial: UInt32, _ header: [Field], _ arguments: [Argument]
    ) -> [UInt8] {
        var body = BusMessage()
        for argument in arguments { body.append(argument) }
        var message = BusMessage()
        message.bytes = [UInt8(ascii: "l"), type, 0, 1]
        message.append(UInt32(body.bytes.count))
        message.append(serial)
        var fields = BusMessage()
        // The array starts at offset 16, so alignment inside is the same as in the message.
        for field in header { fields.append(field) }
        if !arguments.isEmpty {
            fields.align(8)
            fields.bytes.append(8)
            fields.append(signature: "g")
            fields.append(signature: arguments.map(\.signature).joined())
        }
        message.append(UInt32(fields.bytes.count))
        message.bytes += fields.bytes
        message.align(8)
        return message.bytes + body.bytes
    }

    private mutating func align(_ boundary: Int) {
        while bytes.count % boundary != 0 { bytes.append(0) }
    }

    private mutating func append(_ number: UInt32) {
        align(4)
        for shift in [0, 8, 16, 24] as [UInt32] {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    private mutating func append(text: String) {
        append(UInt32(text.utf8.count))
        bytes += Array(text.utf8) + [0]
    }

    private mutating func append(signature: String) {
        bytes += [UInt8(signature.utf8.count)] + Array(signature.utf8) + [0]
    }

    /// An array of the items that `body` appends, each aligned to eight bytes.
    private mutating func appendArray(_ body: (inout BusMessage) -> Void) {
        align(4)
        let place = bytes.count
        append(0 as UInt32)
        align(8)
        let start = bytes.count
        body(&self)
        for (offset, shift) in [0, 8, 16, 24].enumerated() {
            bytes[place + offset] = UInt8(truncatingIfNeeded: (bytes.count - start) >> shift)
        }
    }

    private mutating func append(_ field: Field) {
        let (code, type, text): (UInt8, String, String) =
            switch field {
            case .path(let path): (1, "o", path)
            case .interface(let name): (2, "s", name)
            case .member(let name): (3, "s", name)
            case .destination(let name): (6, "s", name)
            case .replySerial: (5, "u", "")
            }
        align(8)
        bytes.append(code)
        append(signature: type)
        if case .replySerial(let number) = field { append(number) } else { append(text: text) }
    }

    private mutating func append(_ argument: Argument) {
        switch argument {
        case .string(let text), .path(let text): append(text: text)
        case .number(let number): append(number)
        case .variant(let text):
            append(signature: "s")
            append(text: text)
        case .paths(let paths), .strings(let paths):
            var inner = BusMessage()
            for path in paths { inner.append(text: path) }
            append(UInt32(inner.bytes.count))
            bytes += inner.bytes
        case .noAttributes, .noProperties:
            append(0)
            align(8)
        case .flag(let flag): append(flag ? 1 : 0 as UInt32)
        case .item(let label, let attributes):
            let prefix = "org.freedesktop.Secret.Item."
            appendArray { message in
                message.align(8)
                message.append(text: prefix + "Label")
                message.append(.variant(label))
                message.align(8)
                message.append(text: prefix + "Attributes")
                message.append(signature: "a{ss}")
                message.appendArray { message in
                    for (name, value) in attributes {
                        message.align(8)
                        message.append(text: name)
                        message.append(text: value)
                    }
                }
            }
        case .secret(let session, let secret):
            align(8)
            append(text: session)
            append(0)
            append(UInt32(secret.count))
            bytes += secret
            append(text: "text/plain")
        }
    }
}

/// Reads the body of a D-Bus message as ``BusMessage`` writes it; not for untrusted input.
struct BusReader {
    private let bytes: [UInt8]
    private var offset: Int

    init(_ bytes: [UInt8], offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    mutating func align(_ boundary: Int) {
        offset = (offset + boundary - 1) / boundary * boundary
    }

    mutating func number() -> UInt32 {
        align(4)
        defer { offset += 4 }
        return bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func text() -> String {
        let length = Int(number())
        defer { offset += length + 1 }
        return String(decoding: bytes[offset..<(offset + length)], as: UTF8.self)
    }

    mutating func signature() -> String {
        let length = Int(bytes[offset])
        defer { offset += length + 2 }
        return String(decoding: bytes[(offset + 1)..<(offset + 1 + length)], as: UTF8.self)
    }

    mutating func paths() -> [String] {
        let length = Int(number())
        let end = offset + length
        var paths: [String] = []
        while offset < end { paths.append(text()) }
        return paths
    }

    /// An `a{sv}` with values of simple types, as texts.
    mutating func properties() -> [String: String] {
        let length = Int(number())
        align(8)
        let end = offset + length
        var properties: [String: String] = [:]
        while offset < end {
            align(8)
            let name = text()
            switch signature() {
            case "s": properties[name] = text()
            case "y": properties[name] = "\(byte())"
            default: properties[name] = "\(number())"
            }
        }
        return properties
    }

    mutating func byte() -> UInt8 {
        defer { offset += 1 }
        return bytes[offset]
    }

    var position: Int { offset }
}
