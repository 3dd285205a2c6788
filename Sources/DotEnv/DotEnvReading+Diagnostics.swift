extension DotEnvReading {
    /// Returns all diagnostics with their positions, in order.
    func diagnostics(_ cuts: CutValues) -> [DotEnvDiagnostic] {
        var findings = self.findings
        findings += cuts.cuts.map { cut in
            let statement = statements[cut.statement]
            return Finding(
                offset: statement.value.lowerBound, code: .cutValue, key: statement.key)
        }
        let table = NameTable(text, statements)
        addNames(table, to: &findings)
        if dialect == .dotenv || dialect == .next || dialect == .node {
            findings += Disagreements(text, survey, dialect).findings(table)
        }
        // These two include the mark in the first name, or in the comment after it.
        if survey.start > 0, dialect == .node || dialect == .systemd,
            !findings.contains(where: { $0.code == .differsByteOrderMark })
        {
            findings.append(Finding(offset: 0, code: .differsByteOrderMark))
        }
        findings.sort { ($0.offset, $0.code.rawValue) < ($1.offset, $1.code.rawValue) }
        let isCut = findings.count > DotEnvReader.maximumDiagnostics
        var positions = PositionCursor(text, hasCarriageReturn: survey.hasCarriageReturn)
        var diagnostics: [DotEnvDiagnostic] = []
        for finding in findings.prefix(DotEnvReader.maximumDiagnostics) {
            // What is a name for one parser may be a secret for another, so only plausible names
            // are shown, and none from the middle of a value.
            let key = cuts.contains(finding.offset) ? nil : finding.key.map { text.name($0) }
            diagnostics.append(
                DotEnvDiagnostic(
                    position: positions.position(of: finding.offset),
                    key: key.flatMap { $0.isPlausibleName ? $0 : nil }, code: finding.code))
        }
        if isCut, let last = diagnostics.last {
            diagnostics.append(
                DotEnvDiagnostic(position: last.position, key: nil, code: .truncated))
        }
        return diagnostics
    }

    /// Adds diagnostics about names.
    private func addNames(_ table: NameTable, to findings: inout [Finding]) {
        for (index, statement) in statements.enumerated() {
            if findings.count > DotEnvReader.maximumDiagnostics { return }
            let start = statement.key.lowerBound
            let isPortable =
                statement.keyEncoding == .verbatim
                ? text.isPortableName(statement.key)
                : text.name(statement.key, statement.keyEncoding).isPortableName
            if !isPortable {
                findings.append(Finding(offset: start, code: .nameNotPortable, key: statement.key))
            }
            if !table.isLast(index) {
                findings.append(Finding(offset: start, code: .duplicateKey, key: statement.key))
            }
            if let code = valueCode(statement) {
                findings.append(
                    Finding(
                        offset: statement.value.lowerBound, code: code, key: statement.key))
            }
            if statement.isUnterminated, dialect != .systemd {
                findings.append(
                    Finding(
                        offset: statement.value.lowerBound, code: .ignoredUnterminatedQuote,
                        key: statement.key))
            }
        }
    }

    /// Returns the diagnostic of a value in dialects that are not compared with others.
    private func valueCode(_ statement: Statement) -> DotEnvDiagnostic.Code? {
        let value = statement.value
        func has(_ byte: UInt8, before letters: [UInt8] = []) -> Bool {
            var index = value.lowerBound
            while true {
                index = text.firstIndex(of: byte, from: index, to: value.upperBound)
                guard index < value.upperBound else { return false }
                if letters.isEmpty || letters.contains(text[index + 1]) { return true }
                index += 1
            }
        }
        switch dialect {
        case .vercelPull:
            let isDecoded = statement.encoding == .lineBreakEscapes
            return isDecoded && has(Byte.backslash, before: [0x6E, 0x72])
                ? .ambiguousLineBreak : nil
        case .docker, .systemd, .compose, .shell:
            return survey.hasCarriageReturn && has(Byte.carriageReturn)
                ? .differsLineEnding : nil
        case .dotenv, .next, .node, .portable, .json, .yaml:
            return nil
        }
    }

    /// Records skipped lines.
    mutating func recordIgnored(_ ranges: [Range<Int>]) {
        for range in ranges {
            let hasSign = text.contains(Byte.equals, in: range)
            findings.append(
                Finding(
                    offset: range.lowerBound, code: hasSign ? .ignoredJunk : .ignoredNoEquals))
        }
    }
}

extension SourceText {
    /// Returns whether a name is `[A-Za-z_][A-Za-z0-9_]*`.
    func isPortableName(_ range: Range<Int>) -> Bool {
        guard let first = range.first, !(self[first] &- 0x30 < 10) else { return false }
        return range.allSatisfy { self[$0].isWord }
    }
}

extension String {
    /// Whether a message may show this as a name: `[\w.-]`, and no longer than usual names.
    var isPlausibleName: Bool {
        !isEmpty && utf8.count <= 256 && utf8.allSatisfy(\.isNameByte)
    }
}
