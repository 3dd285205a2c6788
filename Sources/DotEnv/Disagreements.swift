/// Finds where common parsers give a program different variables. For motdotla/dotenv, Node,
/// python-dotenv, bash and Compose it parses the text as each of them does and compares; for
/// dotenv-expand, Next.js, Ruby's dotenv and godotenv it checks what they replace in a value.
struct Disagreements {
    let text: SourceText
    let survey: SourceText.Survey
    private let dialect: DotEnvDialect

    /// The parsers whose statements are compared.
    private enum Reader: CaseIterable {
        case classic, node, python
    }

    init(_ text: SourceText, _ survey: SourceText.Survey, _ dialect: DotEnvDialect) {
        self.text = text
        self.survey = survey
        self.dialect = dialect
    }

    /// Returns the findings, unordered. `own` contains what `dialect` reads, which is `dotenv`,
    /// `next` or `node`.
    func findings(_ own: NameTable) -> [DotEnvReading.Finding] {
        let statements = own.statements
        if agreesStepByStep(statements), programsAgree(statements) { return [] }
        var findings: [DotEnvReading.Finding] = []
        let others: [Reader] = dialect == .node ? [.classic, .python] : [.node, .python]
        var reported = Set<Report>()
        for reader in others {
            let table = NameTable(text, self.statements(of: reader))
            for (index, statement) in statements.enumerated() {
                guard own.isLast(index),
                    let code = difference(statement, reader, table.last(like: index, of: own))
                else { continue }
                // A byte order mark is reported once, at its place.
                let isMark = code == .differsByteOrderMark
                let offset = isMark ? 0 : statement.key.lowerBound
                if reported.insert(Report(offset: offset, code: code)).inserted {
                    findings.append(
                        .init(offset: offset, code: code, key: isMark ? nil : statement.key))
                }
            }
            for (index, statement) in table.statements.enumerated() {
                guard own.last(like: index, of: table) == nil, table.isLast(index),
                    let code = extraName(statement, reader)
                else { continue }
                let offset = statement.key.lowerBound
                if reported.insert(Report(offset: offset, code: code)).inserted {
                    findings.append(.init(offset: offset, code: code))
                }
            }
            if findings.count > DotEnvReader.maximumDiagnostics { break }
        }
        var told = Set(reported.map(\.offset))
        for finding in programFindings(own, &told)
        where reported.insert(Report(offset: finding.offset, code: finding.code)).inserted {
            findings.append(finding)
        }
        return findings
    }

    private struct Report: Hashable {
        let offset: Int
        let code: DotEnvDiagnostic.Code
    }

    // MARK: Comparing

    /// Returns whether all parsers read the same sequence of statements, which is the common case.
    private func agreesStepByStep(_ statements: [Statement]) -> Bool {
        var classic = ClassicScanner(text, survey)
        var node = NodeScanner(text, survey)
        var python = PythonScanner(text, survey)
        for statement in statements {
            let other = dialect == .node ? classic.next() : node.next()
            guard let other, isSame(statement, other), let third = python.next(),
                isSame(statement, third), !interpolates(third), !isPrototype(statement)
            else { return false }
        }
        let other = dialect == .node ? classic.next() : node.next()
        return other == nil && python.next() == nil
    }

    private func statements(of reader: Reader) -> [Statement] {
        var statements: [Statement] = []
        var classic = ClassicScanner(text, survey)
        var node = NodeScanner(text, survey)
        var python = PythonScanner(text, survey)
        while statements.count <= DotEnvReader.maximumEntries {
            let next =
                switch reader {
                case .classic: classic.next()
                case .node: node.next()
                case .python: python.next()
                }
            guard let next else { break }
            statements.append(next)
        }
        return statements
    }

    func isSame(_ left: Statement, _ right: Statement) -> Bool {
        text.decodesEqually(left.key, left.keyEncoding, right.key, right.keyEncoding)
            && hasSameValue(left, right)
    }

    func hasSameValue(_ left: Statement, _ right: Statement) -> Bool {
        left.hasValue == right.hasValue
            && text.decodesEqually(left.value, left.encoding, right.value, right.encoding)
    }

    func isPrototype(_ statement: Statement) -> Bool {
        text.has("__proto__", at: statement.key.lowerBound) && statement.key.count == 9
    }

    /// Returns whether any program could replace something in the value.
    func hasDollar(_ statement: Statement) -> Bool {
        text.contains(Byte.dollar, in: statement.value)
    }

    /// Returns whether python-dotenv replaces anything in the value: `${name}` or
    /// `${name:-default}`, where the name may contain anything but `}` and `:`.
    private func interpolates(_ statement: Statement) -> Bool {
        guard hasDollar(statement) else { return false }
        enum State { case plain, dollar, name, colon, fallback }
        var state = State.plain
        var bytes = DecodedBytes(text, statement.value, statement.encoding)
        while let byte = bytes.next() {
            switch (state, byte) {
            case (.plain, Byte.dollar), (.dollar, Byte.dollar), (.colon, Byte.dollar):
                state = .dollar
            case (.dollar, Byte.leftBrace): state = .name
            case (.name, Byte.rightBrace), (.fallback, Byte.rightBrace): return true
            case (.name, Byte.colon): state = .colon
            case (.colon, 0x2D): state = .fallback
            case (.name, _), (.fallback, _): break
            default: state = .plain
            }
        }
        return false
    }

    // MARK: Naming the cause

    /// Returns how `reader` disagrees about an effective statement, or nil.
    private func difference(
        _ statement: Statement, _ reader: Reader, _ other: Statement?
    ) -> DotEnvDiagnostic.Code? {
        if isPrototype(statement) {
            // Both JavaScript parsers lose the name; only python-dotenv can have it.
            return reader == .python && other != nil ? .differsPrototype : nil
        }
        guard let other else { return missingCause(statement, reader) }
        if reader == .python, interpolates(other) { return .differsExpansion }
        if hasSameValue(statement, other) { return nil }
        return valueCause(statement, other)
    }

    /// Returns why another parser may have a name that this dialect does not.
    private func extraName(_ statement: Statement, _ reader: Reader) -> DotEnvDiagnostic.Code? {
        if isPrototype(statement) { return reader == .python ? .differsPrototype : nil }
        let first = statement.key.lowerBound
        if text.has("\u{FEFF}", at: first) { return .differsByteOrderMark }
        if text[first] == Byte.hash { return .differsComment }
        return .differsExtraName
    }

    /// Returns why another parser may lack a name that this dialect has.
    private func missingCause(_ statement: Statement, _ reader: Reader) -> DotEnvDiagnostic.Code {
        if survey.start > 0, reader == .node,
            text.skippingSpaces(from: survey.start, to: text.count)
                >= statement.extent.lowerBound
        {
            return .differsByteOrderMark
        }
        return syntaxCause(statement) ?? quotingCause(statement) ?? .differsName
    }

    func valueCause(_ statement: Statement, _ other: Statement) -> DotEnvDiagnostic.Code {
        if !other.hasValue { return .differsName }
        if let cause = syntaxCause(statement) { return cause }
        if statement.isUnterminated || other.isUnterminated { return .differsUnterminatedQuote }
        return quotingCause(statement) ?? bareCause(statement, other)
    }

    /// Returns what is unusual before the value.
    private func syntaxCause(_ statement: Statement) -> DotEnvDiagnostic.Code? {
        let key = statement.key
        let prefix = key.lowerBound - statement.extent.lowerBound
        if prefix > 0, prefix != 7 || text[key.lowerBound - 1] != Byte.space {
            return .differsExport
        }
        if statement.isUnterminated { return .differsUnterminatedQuote }
        var index = key.upperBound
        var hasOtherSpace = false
        while index < statement.value.lowerBound {
            let byte = text[index]
            if byte == Byte.lineFeed || byte == Byte.carriageReturn { return .differsLineCrossing }
            if byte == Byte.colon { return .differsColon }
            if byte != Byte.space, text.spaceWidth(at: index, .python) > 0 { hasOtherSpace = true }
            if text.spaceWidth(at: index) > 1 { hasOtherSpace = true }
            index += 1
        }
        return hasOtherSpace ? .differsWhitespace : nil
    }

    /// Returns what is unusual about the quotes or their content.
    private func quotingCause(_ statement: Statement) -> DotEnvDiagnostic.Code? {
        if statement.isUnterminated { return .differsUnterminatedQuote }
        let value = statement.value
        let isQuoted =
            text[value.lowerBound - 1].isQuote && value.lowerBound > statement.key.upperBound
        let quote = isQuoted ? text[value.lowerBound - 1] : text[value.lowerBound]
        guard quote.isQuote else { return nil }
        if quote == Byte.backtick { return .differsBacktick }
        let inside = isQuoted ? value : value.lowerBound + 1..<value.upperBound
        let next = text.firstIndex(of: quote, from: inside.lowerBound, to: inside.upperBound)
        if next < inside.upperBound, text[next - 1] != Byte.backslash { return .differsQuoteInside }
        if text.contains(Byte.backslash, in: inside) { return .differsEscape }
        return isQuoted ? nil : .differsQuoteInside
    }

    /// Returns what is unusual about a bare value.
    private func bareCause(_ statement: Statement, _ other: Statement) -> DotEnvDiagnostic.Code {
        let value = statement.value
        let stretch =
            min(
                value.lowerBound, other.value.lowerBound)..<max(
                value.upperBound, other.value.upperBound)
        for index in stretch
        where text[index] == Byte.carriageReturn && text[index + 1] != Byte.lineFeed {
            return .differsLineEnding
        }
        let afterSpaces = text.skippingSpaces(from: value.upperBound, to: text.count)
        if text[value.upperBound] == Byte.hash { return .differsHashInValue }
        if afterSpaces > value.upperBound { return .differsWhitespace }
        return value.lowerBound == other.value.lowerBound ? .differsValue : .differsWhitespace
    }
}
