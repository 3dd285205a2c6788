internal import EnvSchema

extension SchemaNote {
    /// "FILE:LINE: KEY, SUBJECT: what has no effect", not yet safe for a terminal.
    func text(in file: String) -> String {
        let place = line > 0 ? "\(path ?? file):\(line)" : path ?? file
        let name = key ?? decorator.map { "@\($0)" }
        let more = subject == nil || subject == decorator ? nil : subject
        let about = [name, more].compactMap(\.self).joined(separator: ", ")
        return "\(place): \(about.isEmpty ? "" : about + ": ")\(code.text)"
    }
}

extension SchemaNote.Code {
    /// What the note says, without full stop.
    var text: String {
        switch self {
        case .badDecoratorName: "not a decorator name, so it has no effect"
        case .badTypeOptions: "the type does not have these options, so all of them are ignored"
        case .badValue: "not a valid value for this decorator, so it has no effect"
        case .bulkNotLoaded: "zg-env does not run commands to load values"
        case .codegenIgnored: "zg-env writes type declarations only with check --types"
        case .conflictingDecorators:
            "two decorators contradict each other; the stricter one applies"
        case .defaultInvalid: "the default does not match the type"
        case .deprecatedDecorator: "a deprecated decorator name; still accepted"
        case .deprecatedRegex: "regex(…) is the old form; a quoted pattern is enough"
        case .detachedDecorator:
            "the comment is not directly above a variable, so its decorators have no effect"
        case .duplicateDecorator: "given twice; the first one is used"
        case .duplicateKey: "declared twice; the last one is used"
        case .dynamicDisable: "a function decides whether the file is used; zg-env always uses it"
        case .dynamicOption: "a function decides this option, so it is not checked"
        case .dynamicRequired: "a function decides whether it is required; treated as optional"
        case .dynamicSensitive: "a function decides whether it is sensitive; treated as sensitive"
        case .dynamicType: "a function decides the type, so it is not checked"
        case .environmentKeyMissing: "there is no declaration for a variable with this name"
        case .fileDisabled: "the file is disabled, so its declarations are ignored"
        case .functionValue: "another tool computes the value"
        case .importNotFollowed: "this import is not followed, so its variables are not checked"
        case .keyNotPortable: "some programs and shells cannot use this name"
        case .misplacedDecorator: "this decorator has no effect here"
        case .noCurrentEnvironment: "forEnv needs @currentEnv in the header"
        case .placeholderLike: "the value looks incomplete, so it is ignored"
        case .pluginNotLoaded: "zg-env does not load plugins, so their additions are not checked"
        case .proseDecorator: "@word in ordinary text, ignored"
        case .regexUnsupported: "the pattern is not supported, so it is not checked"
        case .secretInSchema: "a sensitive value in a file that is usually committed"
        case .strayText: "text after the decorator is ignored"
        case .unknownDecorator: "unknown decorator; it has no effect"
        case .unknownOption: "the type does not have this option, so it is not checked"
        case .unknownType: "unknown type; the value is not checked"
        case .commentedName: "commented out, so not declared"
        case .lineIgnored: "neither a variable nor a comment, so ignored"
        case .regexLike: "the value looks like a pattern, which is not checked"
        case .asPath: "secretspec passes the path of a file; zg-env passes the value"
        case .extendsNotFollowed: "extends is not followed, so the variables there are not checked"
        case .generateNoted: "secretspec can generate it; with zg-env, use: zg-env set --generate"
        case .groupRequired: "required as a member of a group"
        case .noDescription: "has no description"
        case .profileDefault: "there is no profile for this target, so the default profile is used"
        case .profileUnmapped:
            "there is no profile for this target and no default profile, so nothing is declared (choose a target with -t)"
        case .providerIgnored: "providers have no effect; values come from the vault"
        case .revisionUnknown: "unknown revision of secretspec.toml"
        case .scopesNotApplied: "scopes have no effect"
        case .storedFormIgnored: "the encoding of a stored value has no effect"
        case .unknownField: "unknown field; it has no effect"
        case .environmentNameUnmapped:
            "no target has this name; map it with: zg-env config set schema-env.NAME TARGET"
        }
    }
}
