internal import DotEnv

extension PlaintextSource {
    /// Number of lines about findings without `--json`.
    private static let shownLines = 5
    /// Number of names in one of them.
    private static let shownNames = 10

    /// Shows the findings: each one, or if they are many one line for each code, the worst first.
    ///
    /// - Parameter strict: Whether any finding is an error.
    func report(_ workspace: Workspace, strict: Bool = false) throws {
        // The sort keeps the order of the files within a rank.
        let ordered = findings.enumerated().sorted {
            ($0.element.diagnostic.code.rank, $0.offset)
                < ($1.element.diagnostic.code.rank, $1.offset)
        }.map(\.element)
        // Never replaces a single finding by a line that counts it.
        if findings.count <= Self.shownLines + 1 {
            for finding in ordered { workspace.note(finding.line) }
        } else {
            reportGroups(ordered, workspace)
        }
        if strict, let first = ordered.first {
            throw CommandError(
                .usage,
                "Parsers disagree about \(findings.count) \(findings.count == 1 ? "place" : "places"); the first is \(first.line).",
                hint: "Fix the file, or leave out --strict.")
        }
    }

    private func reportGroups(_ ordered: [Finding], _ workspace: Workspace) {
        var codes: [DotEnvDiagnostic.Code] = []
        let groups = Dictionary(grouping: ordered, by: \.diagnostic.code)
        for finding in ordered where !codes.contains(finding.diagnostic.code) {
            codes.append(finding.diagnostic.code)
        }
        for code in codes.prefix(Self.shownLines) {
            guard let group = groups[code], let first = group.first else { continue }
            var seen = Set([first.diagnostic.key].compactMap(\.self))
            let names = group.compactMap(\.diagnostic.key).filter { seen.insert($0).inserted }
                .prefix(Self.shownNames)
            let rest = group.count - 1 - names.count
            var line = first.line
            if !names.isEmpty { line += "; also \(names.joined(separator: ", "))" }
            if rest > 0 { line += "; and \(rest) more (--json lists all)" }
            workspace.note(line)
        }
        let hidden = codes.dropFirst(Self.shownLines).reduce(0) { $0 + (groups[$1]?.count ?? 0) }
        if hidden > 0 { workspace.note("and \(hidden) more (--json lists all)") }
    }
}

extension DotEnvDiagnostic.Code {
    /// How bad a finding is, the worst with the lowest number: first what is not imported, then what
    /// a program may read differently.
    fileprivate var rank: Int {
        switch self {
        case .cutValue: 0
        case .ignoredUnterminatedQuote, .differsUnterminatedQuote: 1
        case .ignoredJunk, .ignoredNoEquals, .duplicateKey, .truncated: 2
        case .differsExpansion, .unexpanded: 3
        case .differsName, .differsPrototype, .differsExtraName, .differsComment,
            .nameNotPortable:
            4
        case .differsByteOrderMark, .differsLineEnding, .differsHashInValue, .differsWhitespace,
            .differsExport, .differsQuoteInside, .differsBacktick, .differsEscape, .differsColon,
            .differsLineCrossing, .differsShell, .differsCompose, .differsValue,
            .ambiguousLineBreak:
            5
        }
    }
}
