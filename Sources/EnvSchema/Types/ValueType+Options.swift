extension ValueType.Name {
    /// What an option's value must be.
    enum OptionKind {
        case flag, number, text, pattern, list, type, duration
    }

    /// The options of the type, with those that say what the type is made of.
    var optionKinds: [String: OptionKind] {
        switch self {
        case .string:
            [
                "minLength": .number, "maxLength": .number, "isLength": .number,
                "startsWith": .text, "endsWith": .text, "matches": .pattern, "toUpperCase": .flag,
                "toLowerCase": .flag, "allowEmpty": .flag,
            ]
        case .number:
            [
                "min": .number, "max": .number, "isDivisibleBy": .number, "isInt": .flag,
                "precision": .number, "coerceToMinMaxRange": .flag,
            ]
        case .url:
            [
                "prependHttps": .flag, "allowedDomains": .list, "noTrailingSlash": .flag,
                "matches": .pattern,
            ]
        case .enum: ["values": .list]
        case .email: ["normalize": .flag]
        case .port: ["min": .number, "max": .number]
        case .ip: ["version": .number, "normalize": .flag]
        case .duration: ["min": .duration, "max": .duration, "output": .text]
        case .array:
            [
                "element": .type, "minLength": .number, "maxLength": .number, "isLength": .number,
                "unique": .flag, "separator": .text, "format": .text,
            ]
        case .record:
            [
                "values": .type, "keyType": .type, "entriesMinLength": .number,
                "entriesMaxLength": .number, "entriesIsLength": .number,
            ]
        case .boolean, .semver, .isoDate, .uuid, .md5, .simpleObject: [:]
        }
    }

    /// Whether a schema may write the option as `option=…`. The members of an `enum` and the types
    /// of elements and values are written without a name.
    package func takes(option: String) -> Bool {
        switch (self, option) {
        case (.enum, _), (.array, "element"), (.record, "values"): false
        default: optionKinds[option] != nil
        }
    }

    /// Whether arguments without a name mean something to the type.
    package var takesPositionalArguments: Bool {
        self == .enum || self == .array || self == .record
    }
}

extension ValueType {
    /// The deepest nesting of types that is checked.
    static let maximumDepth = 16

    /// Whether the type, or one that it is made of, has a pattern beyond what is checked here.
    ///
    /// Looks at the pattern only: a pattern that PCRE2 finds too large is noticed when a value is
    /// checked.
    package var hasUnsupportedPattern: Bool { hasUnsupportedPattern(depth: 0) }

    private func hasUnsupportedPattern(depth: Int) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        return options.contains { name, value in
            switch value {
            case .type(let type): type.hasUnsupportedPattern(depth: depth + 1)
            case .text(let text):
                self.name.optionKinds[name] == .pattern && !text.isEmpty
                    && PatternSource(text) == nil
            default: false
            }
        }
    }

    /// The first option, by name, whose value the type cannot use.
    var unusableOption: String? {
        let kinds = name.optionKinds
        return options.keys.sorted().first { name in
            guard let value = options[name] else { return false }
            return !Self.isUsable(value, as: kinds[name])
        }
    }

    private static func isUsable(_ value: OptionValue, as kind: ValueType.Name.OptionKind?) -> Bool
    {
        switch (kind, value) {
        case (.flag, .flag), (.text, .text), (.text, .number), (.pattern, .text), (.list, .list),
            (.type, .type):
            true
        case (.number, .number(let text)), (.number, .text(let text)):
            Self.double(text) != nil
        case (.duration, .number(let text)), (.duration, .text(let text)):
            DurationForm.milliseconds(ofOption: text) != nil
        default: false
        }
    }

    /// Reads a number of a schema, which may be read again for each element.
    private static func double(_ text: String) -> Double? {
        guard text.utf8.count <= 100, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    func flag(_ name: String) -> Bool { options[name] == .flag(true) }

    func number(_ name: String) -> Double? {
        switch options[name] {
        case .number(let text), .text(let text): Self.double(text)
        default: nil
        }
    }

    func text(_ name: String) -> String? {
        switch options[name] {
        case .number(let text), .text(let text): text
        default: nil
        }
    }

    func list(_ name: String) -> [String]? {
        if case .list(let list) = options[name] { list } else { nil }
    }

    func type(_ name: String) -> ValueType? {
        if case .type(let type) = options[name] { type } else { nil }
    }
}
