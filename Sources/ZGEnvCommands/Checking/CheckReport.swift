internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema
internal import JSON

/// The result of `check`: one line a variable, problems first, and never a value.
struct CheckReport {
    let schema: ProjectSchema
    let results: [SchemaResult]
    let notes: [SchemaNote]
    let typesAreChecked: Bool
    /// Whether the vault's values were to be checked and are locked.
    let isLocked: Bool
    let isStrict: Bool
    let project: String
    /// What Vercel listed; empty if it was not asked.
    let listed: ListedRecords

    func result(_ workspace: Workspace) -> CommandResult {
        workspace.show(notes, of: schema)
        if isLocked {
            workspace.note("The values are locked, so types were not checked.")
        }
        let problems = results.filter { $0.level == .problem }
        let noted = isStrict && notes.contains { !$0.code.isInformation }
        return CommandResult(
            json: json,
            text: text(TerminalStyle(workspace.context), isVerbose: workspace.options.verbose),
            failure: problems.isEmpty && !noted && unseen.isEmpty ? nil : failure(problems, noted))
    }

    /// What is not known because Vercel hides production variables.
    private var unseen: [SchemaResult] {
        listed.isComplete
            ? [] : results.filter { $0.state == .unknown && $0.why == listed.hidingClause }
    }

    private func failure(_ problems: [SchemaResult], _ noted: Bool) -> CommandError {
        let known = problems.filter { !unseen.contains($0) }
        guard !known.isEmpty || noted else {
            let list = VariableName.list(Set(unseen.map(\.key)).sorted())
            return HiddenProduction.refusal(
                listed, of: project, "it is not known whether Vercel has them: \(list)")
        }
        guard !known.isEmpty else {
            return CommandError(
                .failed,
                "\(schema.path) has declarations that have no effect, which --strict does not allow."
            )
        }
        let names = Set(known.map(\.key)).sorted()
        let list = VariableName.list(names)
        return CommandError(
            .failed,
            names.count == 1
                ? "1 variable has a problem: \(list)."
                : "\(names.count) variables have problems: \(list).")
    }

    // MARK: Text

    /// A line: what has the same state for the same reason in several places.
    private struct Line {
        let first: SchemaResult
        var places: [String]
    }

    private func text(_ look: TerminalStyle, isVerbose: Bool) -> String {
        var lines: [Line] = []
        var numbers: [[String?]: Int] = [:]
        for result in results where isVerbose || result.level <= .warning {
            let place = Self.place(of: result)
            let same = [
                result.key, result.state.rawValue, result.why, result.level.rawValue,
            ]
            if let number = numbers[same] {
                lines[number].places.append(place)
            } else {
                numbers[same] = lines.count
                lines.append(Line(first: result, places: [place]))
            }
        }
        lines.sort {
            ($0.first.level, $0.first.key, $0.first.state.rawValue)
                < ($1.first.level, $1.first.key, $1.first.state.rawValue)
        }
        var table = Table([.init(""), .init(""), .init(""), .init("")])
        for line in lines {
            let result = line.first
            let role: Style.Role =
                switch result.level {
                case .problem: .bad
                case .warning: .warning
                case .info: .dim
                case .ok: .plain
                }
            table.append([
                .init(result.key), .init(result.state.rawValue, as: role),
                .init(line.places.joined(separator: ", ")),
                .init(Self.explanation(of: result), as: .dim),
            ])
        }
        return look.text(table) + summary
    }

    private static func place(of result: SchemaResult) -> String {
        switch result.side {
        case .vault: result.target
        case .vercel: "\(result.target) on Vercel"
        case .live: "\(result.target), live"
        }
    }

    /// The reason, the description and the links, in one line.
    private static func explanation(of result: SchemaResult) -> String {
        var parts: [String] = []
        if let why = result.why { parts.append(why) }
        if result.level <= .warning, let remark = result.item?.remark { parts.append(remark) }
        return parts.joined(separator: "; ")
    }

    private var summary: String {
        let declared = Set(results.filter { $0.item != nil }.map(\.key)).count
        let problems = Set(results.filter { $0.level == .problem }.map(\.key)).count
        let warnings = Set(results.filter { $0.level == .warning }.map(\.key)).count
        return "\(declared) declared in \(DisplayText.safe(schema.fileName)), "
            + "\(DisplayText.count(problems, "problem")), "
            + "\(DisplayText.count(warnings, "warning"))\n"
    }

    // MARK: JSON

    private var json: JSONValue {
        func count(_ name: String, _ isCounted: (SchemaResult) -> Bool) -> JSONValue.Member {
            .init(name, .integer(Int64(results.count(where: isCounted))))
        }
        var counts = SchemaResult.State.allCases.map { state in
            count(state.rawValue) { $0.state == state }
        }
        counts.append(count("problems") { $0.level == .problem })
        counts.append(count("warnings") { $0.level == .warning })
        return [
            "schema": [
                "path": .string(schema.path), "source": .string(schema.notation.rawValue),
            ],
            "results": .array(
                results.map { result in
                    [
                        "key": .string(result.key), "target": .string(result.target),
                        "on": .string(result.side.rawValue),
                        "state": .string(result.state.rawValue),
                        "level": .string(result.level.rawValue),
                        "required": .bool(result.isRequired),
                        "type": .string(orNull: result.item?.type?.name.rawValue),
                        "why": .string(orNull: result.why),
                        "description": .string(orNull: result.item?.description),
                        "docs": .strings(result.item?.documentation.map(\.url) ?? []),
                    ]
                }),
            "notes": .array(notes.map(\.json)), "typesChecked": .bool(typesAreChecked),
            "hiddenProduction": .integer(Int64(listed.hiddenProduction)),
            "counts": .object(counts),
        ]
    }
}

extension Workspace {
    /// Shows the notes of a schema; those that only inform with `--verbose`.
    func show(_ notes: [SchemaNote], of schema: ProjectSchema) {
        for note in notes {
            if note.code.isInformation {
                detail(note.text(in: schema.path))
            } else {
                self.note(note.text(in: schema.path))
            }
        }
    }
}
