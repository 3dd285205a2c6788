package import JSON

extension Schema {
    /// What was read of a file: `{"items":[…],"notes":[…]}`, or `{"error":…}`.
    ///
    /// Contains the literals of the file, also one with the note `secret-in-schema`, so it is for
    /// people who may read the file.
    package static func json(of result: Result<Schema, SchemaError>) -> JSONValue {
        switch result {
        case .success(let schema): schema.json
        case .failure(let error): ["error": error.json]
        }
    }

    package static let fields = """
        items: [{
            key: string; required: boolean | { forEnv?, notForEnv?: [string] }
            sensitive: boolean | null; sensitiveFrom?: string (what decided it); type: string | null
            typeInferred?: true; typeOptions?: object
            default?, placeholder?, function?, description?, example?: string
            docs?: [{ url: string; text?: string }]; deprecated?: string | true; internal?: true
            groups?: { \(SchemaGroup.Rule.atLeastOne.rawValue)?, \(SchemaGroup.Rule.exactlyOne.rawValue)?: [string] }; path?: string
        }]
        notes: [{ \(SchemaNote.fields) }]; envKey?, profile?: string
        """

    package var json: JSONValue {
        .members(
            ordered: [
                ("items", .array(items.map(\.json))), ("notes", .array(notes.map(\.json))),
                ("envKey", environmentKey.map { .string($0) }),
                ("profile", profile.map { .string($0) }),
            ])
    }
}

extension SchemaError {
    package static let fields = "error: { code: string; line?: number; path?: string }"

    package var json: JSONValue {
        .members(
            ordered: [
                ("code", .string(code.rawValue)), ("line", line.map { .integer(Int64($0)) }),
                ("path", path.map { .string($0) }),
            ])
    }
}

extension SchemaNote {
    package static let fields =
        "code: string; key?: string; line: number; path?: string (of an imported file)"

    package var json: JSONValue {
        let name = key ?? decorator.map { "@" + $0 }
        return .members(
            ordered: [
                ("code", .string(code.rawValue)), ("key", name.map { .string($0) }),
                ("line", .integer(Int64(line))), ("path", path.map { .string($0) }),
            ])
    }
}

extension SchemaItem {
    package var json: JSONValue {
        var members: [(String, JSONValue?)] = [
            ("key", .string(key)), ("required", requirement.json),
            ("sensitive", .bool(orNull: isSensitive)),
            ("sensitiveFrom", sensitivitySource.map { .string($0.rawValue) }),
            ("type", .string(orNull: type?.name.rawValue)),
            ("typeInferred", typeIsInferred ? true : nil), ("typeOptions", type?.optionsJSON),
        ]
        switch value {
        case .none: break
        case .default(let text): members.append(("default", .string(text)))
        case .placeholder(let text): members.append(("placeholder", .string(text)))
        case .function(let name): members.append(("function", .string(name)))
        }
        members += [
            ("description", description.map { .string($0) }),
            ("example", example.map { .string($0) }),
            ("docs", documentation.isEmpty ? nil : .array(documentation.map(\.json))),
            ("deprecated", deprecation.map { $0.advice.map { .string($0) } ?? true }),
            ("internal", isInternal ? true : nil), ("groups", groupsJSON),
            ("path", path.map { .string($0) }),
        ]
        return .members(ordered: members)
    }

    private var groupsJSON: JSONValue? {
        var members: [(String, JSONValue?)] = []
        for rule in [SchemaGroup.Rule.atLeastOne, .exactlyOne] {
            let names = groups.filter { $0.rule == rule }.map(\.name)
            if !names.isEmpty { members.append((rule.rawValue, .strings(names))) }
        }
        return members.isEmpty ? nil : .members(ordered: members)
    }
}

extension SchemaRequirement {
    package var json: JSONValue {
        switch self {
        case .always: true
        case .never, .depends: false
        case .environments(let names): ["forEnv": .strings(names)]
        case .exceptEnvironments(let names): ["notForEnv": .strings(names)]
        }
    }
}

extension SchemaLink {
    fileprivate var json: JSONValue {
        .members(ordered: [("url", .string(url)), ("text", text.map { .string($0) })])
    }
}

extension ValueType {
    /// Nil without options.
    fileprivate var optionsJSON: JSONValue? {
        guard !options.isEmpty else { return nil }
        return .members(options.mapValues(\.json))
    }

    fileprivate var json: JSONValue {
        .members(ordered: [("type", .string(name.rawValue)), ("typeOptions", optionsJSON)])
    }
}

extension OptionValue {
    fileprivate var json: JSONValue {
        switch self {
        case .flag(let flag): .bool(flag)
        case .number(let text): .plainNumber(text)
        case .text(let text): .string(text)
        case .list(let texts): .strings(texts)
        case .type(let type): type.json
        }
    }
}

extension JSONValue {
    /// Returns an object of the members that are not nil, in their order.
    fileprivate static func members(ordered members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// A number from its decimal form, or a string for any other text.
    static func plainNumber(_ text: String) -> JSONValue {
        if let whole = Int64(text) { return .integer(whole) }
        if let number = Double(text), number.isFinite { return .number(number) }
        return .string(text)
    }
}
