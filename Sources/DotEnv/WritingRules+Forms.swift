/// How a value is written in a `.env` text.
struct DotEnvForm: Equatable {
    /// The quote around the value; nil for a bare one.
    var quote: UInt8?
    /// Whether a carriage return is written as `\r`.
    var escapesReturns = false
    /// Whether `$` has a backslash before it.
    var escapesDollars = false
    /// Whether `\`, `"` and `$` are escaped as in double quotes of Compose.
    var escapesForCompose = false

    func write(_ value: SourceText, into sink: inout some ByteSink & ~Copyable) {
        if let quote { sink.append(quote) }
        if escapesReturns || escapesDollars || escapesForCompose {
            for index in 0..<value.count {
                let byte = value[index]
                switch byte {
                case Byte.carriageReturn where escapesReturns: sink.append("\\r")
                case Byte.dollar where escapesForCompose: sink.append("$$")
                case Byte.dollar where escapesDollars: sink.append("\\$")
                case Byte.backslash where escapesForCompose: sink.append("\\\\")
                case Byte.doubleQuote where escapesForCompose: sink.append("\\\"")
                default: sink.append(byte)
                }
            }
        } else {
            value.copy(0..<value.count, into: &sink)
        }
        if let quote { sink.append(quote) }
    }
}

extension WritingRules {
    /// Whether every parser of `.env` files reads the value back, with any expansion.
    var isPortable: Bool { commonForm != nil && !traits.isExpandable }

    /// Returns the form for one parser, or for as many as possible if `dialect` is nil; nil
    /// without such a form. The finished text is always read back.
    func form(for dialect: DotEnvDialect?) -> DotEnvForm? {
        guard traits.isUTF8, !traits.hasNUL else { return nil }
        switch dialect {
        case nil, .dotenv: return commonForm ?? classicForm
        case .portable: return isPortable ? commonForm : nil
        case .next:
            guard traits.isExpandable else { return commonForm ?? classicForm }
            var form = classicForm
            form?.escapesDollars = true
            return form
        case .node: return commonForm ?? nodeForm
        case .compose: return commonForm ?? composeForm
        case .docker, .shell, .systemd, .vercelPull, .json, .yaml: return nil
        }
    }

    /// The form that all parsers read alike if they expand nothing in single quotes.
    private var commonForm: DotEnvForm? {
        if !traits.isUTF8 || traits.hasNUL || traits.hasNoncharacter { return nil }
        if traits.isBare { return DotEnvForm() }
        if traits.hasCarriageReturn { return nil }
        if !traits.hasSingleQuote && !traits.hasExpansion && !traits.hasFragileBackslash {
            return DotEnvForm(quote: Byte.singleQuote)
        }
        return traits.hasDoubleQuoteSpecial ? nil : DotEnvForm(quote: Byte.doubleQuote)
    }

    /// Whether the value may be bare, or in quotes that it also contains, since it is one line
    /// without a comment.
    private var isOneLine: Bool {
        !traits.hasLineFeed && !traits.hasSeparator && !traits.hasHash && count > 0
    }

    private var classicForm: DotEnvForm? {
        if traits.hasCarriageReturn {
            let fits = !traits.hasDoubleQuote && !traits.hasEscapedBreak && !traits.endsInBackslash
            return fits ? DotEnvForm(quote: Byte.doubleQuote, escapesReturns: true) : nil
        }
        if !traits.endsInBackslash {
            if !traits.hasSingleQuote { return DotEnvForm(quote: Byte.singleQuote) }
            if !traits.hasDoubleQuote, !traits.hasEscapedBreak {
                return DotEnvForm(quote: Byte.doubleQuote)
            }
            if !traits.hasBacktick { return DotEnvForm(quote: Byte.backtick) }
        }
        guard isOneLine else { return nil }
        if !traits.hasFragileEnd { return DotEnvForm() }
        return traits.endsInBackslash ? nil : DotEnvForm(quote: Byte.singleQuote)
    }

    private var nodeForm: DotEnvForm? {
        if traits.hasCarriageReturn { return nil }
        if !traits.hasSingleQuote { return DotEnvForm(quote: Byte.singleQuote) }
        if !traits.hasDoubleQuote, !traits.hasEscapedBreak {
            return DotEnvForm(quote: Byte.doubleQuote)
        }
        if !traits.hasBacktick { return DotEnvForm(quote: Byte.backtick) }
        return isOneLine && !traits.hasFragileEnd ? DotEnvForm() : nil
    }

    private var composeForm: DotEnvForm {
        if !traits.hasSingleQuote, !traits.endsInBackslash {
            return DotEnvForm(quote: Byte.singleQuote)
        }
        return DotEnvForm(quote: Byte.doubleQuote, escapesForCompose: true)
    }
}
