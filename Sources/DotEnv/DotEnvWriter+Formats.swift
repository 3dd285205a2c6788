extension DotEnvWriter {
    /// Writes what comes before the first pair.
    func begin(isEmpty: Bool, into sink: inout some ByteSink & ~Copyable) {
        switch format {
        case .json:
            sink.append(isEmpty ? "{}\n" : "{\n")
        case .yaml where isEmpty:
            sink.append("{}\n")
        case .k8s:
            sink.append("apiVersion: v1\nkind: Secret\nmetadata:\n  name: \"")
            sink.append(name: secretName)
            sink.append("\"\ntype: Opaque\n")
            sink.append(isEmpty ? "data: {}\n" : "data:\n")
        default:
            break
        }
    }

    /// Writes one pair.
    func write(
        _ key: String, _ value: SourceText, isLast: Bool,
        into sink: inout some ByteSink & ~Copyable
    ) {
        switch format {
        case .dotenv:
            sink.append(name: key)
            sink.append(Byte.equals)
            Self.writePortable(key, value, into: &sink)
            sink.append(Byte.lineFeed)
        case .docker:
            sink.append(name: key)
            sink.append(Byte.equals)
            value.copy(0..<value.count, into: &sink)
            sink.append(Byte.lineFeed)
        case .shell:
            sink.append("export ")
            sink.append(name: key)
            sink.append(Byte.equals)
            writeShellQuoted(value, into: &sink)
            sink.append(Byte.lineFeed)
        case .systemd:
            sink.append(name: key)
            sink.append(Byte.equals)
            writeSystemd(key, value, into: &sink)
            sink.append(Byte.lineFeed)
        case .json:
            sink.append("  ")
            key.withText { QuotedString.write($0, into: &sink) }
            sink.append(": ")
            QuotedString.write(value, into: &sink)
            sink.append(isLast ? "\n" : ",\n")
        case .yaml:
            key.withText { QuotedString.write($0, into: &sink) }
            sink.append(": ")
            QuotedString.write(value, into: &sink)
            sink.append(Byte.lineFeed)
        case .k8s:
            sink.append("  \"")
            sink.append(name: key)
            sink.append("\": \"")
            Base64Text.write(value, into: &sink)
            sink.append("\"\n")
        }
    }

    /// Writes what comes after the last pair.
    func end(isEmpty: Bool, into sink: inout some ByteSink & ~Copyable) {
        if format == .json, !isEmpty { sink.append("}\n") }
    }

    /// Writes a value in the form that all readers of `.env` files take alike. The value must have
    /// one.
    static func writePortable(
        _ key: String, _ value: SourceText, into sink: inout some ByteSink & ~Copyable,
        quotesAlways: Bool = false
    ) {
        let quote: UInt8? =
            switch WritingRules(key: key, value: value).portableForm {
            case .singleQuoted: Byte.singleQuote
            case .doubleQuoted: Byte.doubleQuote
            case .bare, nil: quotesAlways ? Byte.singleQuote : nil
            }
        if let quote { sink.append(quote) }
        value.copy(0..<value.count, into: &sink)
        if let quote { sink.append(quote) }
    }

    /// Single quotes, in which nothing has a meaning; a single quote itself stands outside of them.
    private func writeShellQuoted(
        _ value: SourceText, into sink: inout some ByteSink & ~Copyable
    ) {
        sink.append(Byte.singleQuote)
        var index = 0
        while index < value.count {
            let end = value.firstIndex(of: Byte.singleQuote, from: index, to: value.count)
            value.copy(index..<end, into: &sink)
            if end < value.count { sink.append("'\\''") }
            index = end + 1
        }
        sink.append(Byte.singleQuote)
    }

    /// Bare if harmless, else double quotes with a backslash before what means something in them.
    private func writeSystemd(
        _ key: String, _ value: SourceText, into sink: inout some ByteSink & ~Copyable
    ) {
        if WritingRules(key: key, value: value).isBare {
            value.copy(0..<value.count, into: &sink)
            return
        }
        sink.append(Byte.doubleQuote)
        for index in 0..<value.count {
            let byte = value[index]
            let isSpecial =
                byte == Byte.doubleQuote || byte == Byte.backslash || byte == Byte.dollar
                || byte == Byte.backtick
            if isSpecial { sink.append(Byte.backslash) }
            sink.append(byte)
        }
        sink.append(Byte.doubleQuote)
    }
}

extension String {
    /// Lends the bytes of a name as a text.
    func withText<R>(_ body: (SourceText) -> R) -> R {
        let bytes = Array(utf8)
        return unsafe bytes.span.bytes.withText(body)
    }
}
