extension DotEnvWriter {
    /// Writes the text before the first pair.
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

    func write(
        _ key: String, _ value: SourceText, isLast: Bool,
        into sink: inout some ByteSink & ~Copyable
    ) {
        switch format {
        case .dotenv:
            sink.append(name: key)
            sink.append(Byte.equals)
            Self.writeLine(key, value, for: dialect, into: &sink)
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

    /// Writes the text after the last pair.
    func end(isEmpty: Bool, into sink: inout some ByteSink & ~Copyable) {
        if format == .json, !isEmpty { sink.append("}\n") }
    }

    /// Writes a value for one parser, or for as many as possible. The value must have such a form.
    static func writeLine(
        _ key: String, _ value: SourceText, for dialect: DotEnvDialect? = nil,
        into sink: inout some ByteSink & ~Copyable, quotesAlways: Bool = false
    ) {
        guard var form = WritingRules(key: key, value: value).form(for: dialect) else { return }
        if quotesAlways, form.quote == nil { form.quote = Byte.singleQuote }
        form.write(value, into: &sink)
    }

    /// Writes single quotes around everything but `'` and `\`, which get a backslash outside of the
    /// quotes: inside them, fish reads a backslash before either as an escape, and the others do not.
    private func writeShellQuoted(
        _ value: SourceText, into sink: inout some ByteSink & ~Copyable
    ) {
        var isQuoted = value.count == 0
        if isQuoted { sink.append(Byte.singleQuote) }
        for index in 0..<value.count {
            let byte = value[index]
            let isSpecial = byte == Byte.singleQuote || byte == Byte.backslash
            if isSpecial == isQuoted {
                sink.append(Byte.singleQuote)
                isQuoted.toggle()
            }
            if isSpecial { sink.append(Byte.backslash) }
            sink.append(byte)
        }
        if isQuoted { sink.append(Byte.singleQuote) }
    }

    /// Writes a harmless value bare, others in double quotes with backslashes before special
    /// characters.
    private func writeSystemd(
        _ key: String, _ value: SourceText, into sink: inout some ByteSink & ~Copyable
    ) {
        if WritingRules(key: key, value: value).traits.isBare {
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
    /// Calls `body` with the bytes of a name as a text.
    func withText<R>(_ body: (SourceText) -> R) -> R {
        let bytes = Array(utf8)
        return unsafe bytes.span.bytes.withText(body)
    }
}
