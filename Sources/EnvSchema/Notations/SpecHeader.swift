/// What the header of an env-spec file says of the file.
struct SpecHeader {
    enum Required {
        case always, never
        /// Where the file has a value.
        case inferred
    }

    enum Sensitivity {
        case all(Bool)
        /// Keys with this prefix are public, all others sensitive.
        case prefix(String)
    }

    private(set) var required = Required.always
    private(set) var sensitivity: Sensitivity?
    /// The item that holds the name of the environment, and the line that says so.
    private(set) var environmentKey: (key: String, line: Int)?
    private(set) var isDisabled = false
    /// The line that disables the file.
    private(set) var disablingLine = 0
    private(set) var imports: [SpecImport] = []

    init(_ decorators: [SpecDecorator], notes: NoteList) {
        var seen = Set<String>()
        for decorator in decorators where Self.isKnown(decorator, notes: notes) {
            if decorator.hasStrayText { Self.note(.strayText, decorator, notes) }
            guard let form = SpecDecoratorTable.header(decorator.name),
                form.allows(decorator)
            else {
                Self.note(.badValue, decorator, notes)
                continue
            }
            if form == .value, !seen.insert(decorator.name).inserted {
                Self.note(.duplicateDecorator, decorator, notes)
                continue
            }
            if !read(decorator, notes: notes) { Self.note(.badValue, decorator, notes) }
        }
    }

    private static func note(
        _ code: SchemaNote.Code, _ decorator: SpecDecorator, _ notes: NoteList
    ) {
        notes.add(code, decorator: decorator.name, line: decorator.line)
    }

    private static func isKnown(_ decorator: SpecDecorator, notes: NoteList) -> Bool {
        if SpecDecoratorTable.header(decorator.name) != nil { return true }
        let code = decorator.unknownCode(
            isKnownElsewhere: SpecDecoratorTable.items[decorator.name] != nil)
        note(code, decorator, notes)
        if decorator.hasStrayText, code == .unknownDecorator {
            note(.strayText, decorator, notes)
        }
        return false
    }

    /// Returns false for a value that the decorator does not have.
    private mutating func read(_ decorator: SpecDecorator, notes: NoteList) -> Bool {
        switch decorator.name {
        case "defaultRequired": return readRequired(decorator)
        case "defaultSensitive": return readSensitivity(decorator)
        case "envFlag":
            Self.note(.deprecatedDecorator, decorator, notes)
            return readEnvironmentKey(decorator)
        case "currentEnv": return readEnvironmentKey(decorator)
        case "disable":
            guard let value = decorator.assigned else { return false }
            if value.function != nil {
                notes.add(.dynamicDisable, line: decorator.line)
                return true
            }
            guard case .flag(let flag) = value.literal?.form else { return false }
            isDisabled = flag
            disablingLine = decorator.line
        case "import":
            guard case .arguments(let arguments) = decorator.value else { return false }
            let followed = SpecImport(arguments, line: decorator.line)
            if followed.usesOldForm { Self.note(.deprecatedDecorator, decorator, notes) }
            imports.append(followed)
        case "plugin":
            guard case .arguments(let arguments) = decorator.value else { return false }
            notes.add(
                .pluginNotLoaded, line: decorator.line,
                subject: arguments.first?.value.literal?.resolved)
        case "setValuesBulk": notes.add(.bulkNotLoaded, line: decorator.line)
        default:
            if SpecDecoratorTable.isGenerator(decorator.name) {
                notes.add(.codegenIgnored, line: decorator.line)
            }
        }
        return true
    }

    private mutating func readRequired(_ decorator: SpecDecorator) -> Bool {
        guard let literal = decorator.assigned?.literal else { return false }
        switch literal.form {
        case .flag(let flag): required = flag ? .always : .never
        case .text where literal.content == "infer": required = .inferred
        case .text, .number, .undefined: return false
        }
        return true
    }

    private mutating func readSensitivity(_ decorator: SpecDecorator) -> Bool {
        switch decorator.assigned {
        case .call(let call) where call.name == "inferFromPrefix":
            guard call.arguments.count == 1, call.arguments[0].name == nil,
                let prefix = call.arguments[0].value.literal, !prefix.resolved.isEmpty
            else { return false }
            sensitivity = .prefix(prefix.resolved)
        case .text(let text):
            guard case .flag(let flag) = text.form else { return false }
            sensitivity = .all(flag)
        default: return false
        }
        return true
    }

    /// `@currentEnv` needs `$KEY`; the old decorator takes `KEY`, too.
    private mutating func readEnvironmentKey(_ decorator: SpecDecorator) -> Bool {
        guard case .text(let text) = decorator.assigned else { return false }
        let key = text.reference?.key
        let plainKey = decorator.name == "envFlag" ? text.literalKey : nil
        guard let key = key ?? plainKey else { return false }
        // The first counts, whichever of the two it is.
        if environmentKey == nil { environmentKey = (key, decorator.line) }
        return true
    }
}

extension SpecText {
    /// The text if it can be a key.
    fileprivate var literalKey: String? {
        guard reference == nil, case .text = form, let first = content.utf8.first,
            !first.isDigit,
            content.utf8.allSatisfy({
                $0.isNamePart || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
            })
        else { return nil }
        return content
    }
}
