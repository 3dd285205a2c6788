/// Reads one text: runs the dialect's scanner, then finds positions and names.
struct DotEnvReading {
    let text: SourceText
    let survey: SourceText.Survey
    let dialect: DotEnvDialect
    var statements: [Statement] = []
    var findings: [Finding] = []
    /// The names so far, in a dialect in which none may be repeated.
    private var names: Set<ExactName> = []

    /// A diagnostic before its position is known.
    struct Finding {
        let offset: Int
        let code: DotEnvDiagnostic.Code
        var key: Range<Int>?
    }

    init(_ text: SourceText, _ survey: SourceText.Survey, _ dialect: DotEnvDialect) {
        self.text = text
        self.survey = survey
        self.dialect = dialect
    }

    consuming func file(diagnoses: Bool) throws(DotEnvError) -> DotEnvFile {
        try scan()
        let cuts = CutValues(text, dialect.isDataFormat ? [] : statements)
        let pieces = statements.indices.filter {
            !cuts.cuts.isEmpty && cuts.contains(statements[$0].key.lowerBound)
        }
        return DotEnvFile(
            dialect: dialect, entries: entries(),
            diagnostics: diagnoses ? diagnostics(cuts) : [], pieces: Set(pieces))
    }

    private mutating func scan() throws(DotEnvError) {
        switch dialect {
        case .node:
            var scanner = NodeScanner(text, survey)
            while let statement = scanner.next() { try add(statement) }
            recordIgnored(scanner.ignored)
        case .docker:
            var scanner = DockerScanner(text, survey)
            while let statement = try scanner.next() { try add(statement) }
            recordIgnored(scanner.ignored)
        case .systemd:
            var scanner = SystemdScanner(text)
            while let statement = scanner.next() {
                let extent = statement.key.lowerBound..<statement.value.upperBound
                if let offset = text.noncharacter(in: extent) {
                    throw text.failure(
                        .refused, "systemd rejects Unicode noncharacters", at: offset)
                }
                try add(statement)
            }
            recordIgnored(scanner.ignored)
        case .compose:
            var scanner = ComposeScanner(text, survey)
            while let statement = try scanner.next() { try add(statement) }
            recordIgnored(scanner.ignored)
            for range in scanner.live {
                findings.append(Finding(offset: range.lowerBound, code: .unexpanded))
            }
        case .shell:
            var scanner = ShellScanner(text)
            while let statement = try scanner.next() { try add(statement) }
            recordIgnored(scanner.ignored)
        case .portable:
            var scanner = PortableScanner(text)
            while let statement = try scanner.next() { try add(statement) }
        case .dotenv, .next, .vercelPull:
            var scanner = ClassicScanner(text, survey, prefersVercelLines: dialect == .vercelPull)
            while let statement = scanner.next() { try add(statement) }
            recordIgnored(scanner.ignored)
        case .json:
            try scanJSON()
        case .yaml:
            var scanner = YAMLScanner(text, survey)
            while let statement = try scanner.next() { try addMember(statement) }
        }
    }

    /// Adds a member of a JSON object or YAML mapping.
    mutating func addMember(_ statement: Statement) throws(DotEnvError) {
        let key = statement.key.lowerBound
        let name = text.name(statement.key, statement.keyEncoding)
        guard name.isVariableName else {
            throw text.failure(.refused, "not a valid variable name", at: key)
        }
        guard names.insert(ExactName(name)).inserted else {
            throw text.failure(.refused, "the variable is set twice", at: key, key: name)
        }
        try add(statement)
    }

    mutating func add(_ statement: Statement) throws(DotEnvError) {
        guard statements.count < DotEnvReader.maximumEntries else {
            throw text.failure(
                .tooManyEntries, "more than \(DotEnvReader.maximumEntries) variables",
                at: statement.key.lowerBound)
        }
        statements.append(statement)
    }

    private func entries() -> [DotEnvEntry] {
        var positions = PositionCursor(text, hasCarriageReturn: survey.hasCarriageReturn)
        var entries: [DotEnvEntry] = []
        entries.reserveCapacity(statements.count)
        for statement in statements {
            entries.append(
                DotEnvEntry(
                    key: text.name(statement.key, statement.keyEncoding),
                    position: positions.position(of: statement.key.lowerBound),
                    valueRange: statement.value, encoding: statement.encoding,
                    extent: statement.extent, keyRange: statement.key,
                    literalRange: statement.literal))
        }
        return entries
    }
}

extension SourceText {
    /// Returns the decoded name in `range`.
    func name(_ range: Range<Int>, _ encoding: DotEnvEncoding) -> String {
        if encoding == .verbatim { return name(range) }
        return String(decoding: Array(DecodedBytes(self, range, encoding)), as: UTF8.self)
    }
}
