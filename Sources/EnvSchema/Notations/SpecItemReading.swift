/// Reads one item of an env-spec file: its decorators, then its value.
final class SpecItemReading {
    private let source: SpecItem
    private let header: SpecHeader
    private var item: SchemaItem
    private let notes: NoteList
    /// The line of `forEnv`, which needs `@currentEnv`.
    private(set) var environmentLine: Int?

    /// The first of each name; so few that a search beats a table.
    private var decorators: [SpecDecorator] = []
    private var typeLine: Int?

    init(_ source: SpecItem, _ header: SpecHeader, _ notes: NoteList) {
        self.source = source
        self.header = header
        self.notes = notes
        item = SchemaItem(key: source.key, line: source.line)
        item.description = source.description
    }

    func read() -> SchemaItem {
        if !source.key.utf8.allSatisfy(\.isNamePart) { note(.keyNotPortable, source.line) }
        collectDecorators()
        readValue()
        readRequirement()
        readSensitivity()
        readType()
        readInformation()
        judgeLiteral()
        return item
    }

    private func note(_ code: SchemaNote.Code, _ line: Int, _ subject: String? = nil) {
        notes.add(code, key: item.key, line: line, subject: subject)
    }

    // MARK: - Decorators

    /// Keeps the first of each decorator that is once allowed, and reads the others.
    private func collectDecorators() {
        for decorator in source.decorators {
            let name = decorator.name
            guard let form = SpecDecoratorTable.items[name] else {
                noteUnknown(decorator)
                continue
            }
            if decorator.hasStrayText { note(.strayText, decorator.line, name) }
            guard form.allows(decorator) else {
                note(.badValue, decorator.line, name)
                continue
            }
            if case .arguments(let arguments) = decorator.value {
                if name == "docs" { readLink(arguments, decorator.line) }
                if name == "proxy", self.decorator(name) == nil { decorators.append(decorator) }
            } else if name == "proxy" {
                // `@proxy=omit` has no effect.
            } else if self.decorator(name) == nil {
                decorators.append(decorator)
            } else {
                note(.duplicateDecorator, decorator.line, name)
            }
        }
    }

    private func decorator(_ name: String) -> SpecDecorator? {
        decorators.first { $0.name == name }
    }

    private func noteUnknown(_ decorator: SpecDecorator) {
        let code = decorator.unknownCode(
            isKnownElsewhere: SpecDecoratorTable.header(decorator.name) != nil)
        note(code, decorator.line, decorator.name)
        if decorator.hasStrayText, code == .unknownDecorator {
            note(.strayText, decorator.line, decorator.name)
        }
    }

    /// `docs(url)` or `docs(text, url)`.
    private func readLink(_ arguments: [SpecArgument], _ line: Int) {
        let texts = arguments.compactMap { $0.name == nil ? $0.value.literal?.resolved : nil }
        guard texts.count == arguments.count, texts.count == 1 || texts.count == 2,
            let url = texts.last, !url.isEmpty
        else {
            note(.badValue, line, "docs")
            return
        }
        item.documentation.append(SchemaLink(url: url, text: texts.count == 2 ? texts[0] : nil))
    }

    // MARK: - Value

    private func readValue() {
        item.type = ValueType(.string)
        guard let value = source.value else { return }
        if let function = value.function {
            item.value = .function(function)
            note(.functionValue, source.line, function)
        }
        switch value {
        case .text(let text):
            guard text.reference == nil else { return }
            switch text.form {
            case .undefined: return
            case .text: break
            case .number: infer(.number)
            case .flag: infer(.boolean)
            }
            item.value = .default(text.resolved)
        case .list:
            infer(.array)
            if case .none = item.value { item.value = .default(value.listText) }
        case .object:
            infer(.record)
            if case .none = item.value { item.value = .default(value.jsonText) }
        case .call: break
        }
    }

    private func infer(_ name: ValueType.Name) {
        item.type = ValueType(name)
        item.typeIsInferred = true
    }

    private var hasValue: Bool {
        switch item.value {
        case .default(let text), .placeholder(let text): !text.isEmpty
        case .function: true
        case .none: false
        }
    }

    /// Tells placeholders from defaults, and defaults that should not be there.
    private func judgeLiteral() {
        guard case .default(let text) = item.value, !text.isEmpty else { return }
        if item.isSensitive == true, PlaceholderText.matches(text) {
            item.value = .placeholder(text)
            note(.placeholderLike, source.line)
            return
        }
        if item.isSensitive == true, item.sensitivitySource == .item {
            note(.secretInSchema, source.line)
        }
        guard typeLine != nil, let type = item.type else { return }
        let fit = unsafe type.fit(of: text.utf8Span.span.bytes)
        if case .misfit = fit { note(.defaultInvalid, source.line) }
    }

    // MARK: - Statements

    /// Returns what a pair of opposite decorators says, as statements of the first of them.
    private func statements(_ name: String, not opposite: String) -> [SpecStatement] {
        guard !decorators.isEmpty else { return [] }
        let pair = [name, opposite].compactMap { decorator($0) }
        if pair.count == 2 { note(.conflictingDecorators, pair[1].line, opposite) }
        return pair.compactMap { decorator in
            guard let value = decorator.assigned else { return nil }
            let statement = statement(decorator, value)
            if case .invalid = statement {
                note(.badValue, decorator.line, decorator.name)
                return nil
            }
            return decorator.name == opposite ? statement.opposite : statement
        }
    }

    /// `@sensitive` has options, of which `enabled` is the statement.
    private func statement(_ decorator: SpecDecorator, _ value: SpecValue) -> SpecStatement {
        guard decorator.name == "sensitive", case .object(let options) = value else {
            return SpecStatement(value)
        }
        guard let enabled = options.last(where: { $0.name == "enabled" }) else {
            return .flag(true)
        }
        return SpecStatement(enabled.value)
    }

    private func readRequirement() {
        let requirements = statements("required", not: "optional").compactMap(\.requirement)
        // Of two that contradict each other, the stricter one counts.
        if let stated = requirements.contains(.always)
            ? .always : requirements.first(where: { $0 != .never }) ?? requirements.first
        {
            item.requirement = stated
            let line = decorator("required")?.line ?? decorator("optional")?.line ?? source.line
            switch stated {
            case .depends: note(.dynamicRequired, line)
            case .environments, .exceptEnvironments: environmentLine = line
            case .always, .never: break
            }
            return
        }
        item.requirement =
            switch header.required {
            case .always: .always
            case .never: .never
            case .inferred: hasValue ? .always : .never
            }
    }

    private func readSensitivity() {
        var stated: Bool?
        for statement in statements("sensitive", not: "public") {
            switch statement {
            case .flag(let flag): stated = flag || stated == true
            case .environments, .exceptEnvironments, .depends:
                stated = true
                note(
                    .dynamicSensitive,
                    decorator("sensitive")?.line ?? decorator("public")?.line ?? source.line)
            case .absent, .invalid: break
            }
        }
        let rule = sensitivity(stated)
        item.isSensitive = rule.isSensitive
        item.sensitivitySource = rule.source
    }

    private func sensitivity(
        _ stated: Bool?
    ) -> (isSensitive: Bool, source: SensitivitySource) {
        if stated == true { return (true, .item) }
        if decorator("proxy") != nil { return (true, .proxy) }
        if stated == false { return (false, .item) }
        // These two functions keep secrets that another tool encrypted.
        if case .function(let name) = item.value, name == "varlock" || name == "keychain" {
            return (true, .function)
        }
        switch header.sensitivity {
        case .all(let flag): return (flag, .file)
        case .prefix(let prefix): return (!item.key.utf8.starts(with: prefix.utf8), .prefix)
        case nil: return (true, .implicit)
        }
    }

    private func readType() {
        guard let decorator = decorator("type"), let value = decorator.assigned else { return }
        let reading = SpecTypeReading(key: item.key, line: decorator.line, notes: notes)
        let type = reading.type(value)
        item.type = type
        item.typeIsInferred = false
        typeLine = decorator.line
        if type.hasUnsupportedPattern { note(.regexUnsupported, decorator.line) }
    }

    // MARK: - Information

    private func readInformation() {
        if let text = text(of: "example") { item.example = text }
        if let decorator = decorator("docsUrl") {
            note(.deprecatedDecorator, decorator.line, decorator.name)
            if let url = text(of: "docsUrl") { item.documentation.append(SchemaLink(url: url)) }
        }
        if let decorator = decorator("deprecated") {
            switch decorator.assigned?.literal?.form {
            case .flag(true): item.deprecation = SchemaDeprecation()
            case .flag(false), .undefined: break
            case .text, .number:
                item.deprecation = SchemaDeprecation(
                    advice: decorator.assigned?.literal?.resolved)
            case nil: note(.badValue, decorator.line, decorator.name)
            }
        }
        if let decorator = decorator("internal") {
            switch decorator.assigned?.literal?.form {
            case .flag(let flag): item.isInternal = flag
            case .undefined: break
            case .text, .number, nil: note(.badValue, decorator.line, decorator.name)
            }
        }
    }

    /// Returns the text of a decorator that is shown; nil for `undefined` and for what is no text.
    private func text(of name: String) -> String? {
        guard let decorator = decorator(name) else { return nil }
        guard case .value(let value) = decorator.value, let literal = value.literal else {
            note(.badValue, decorator.line, name)
            return nil
        }
        if case .undefined = literal.form { return nil }
        return literal.resolved
    }
}
