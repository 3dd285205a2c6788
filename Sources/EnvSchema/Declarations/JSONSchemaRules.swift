internal import JSON

/// What a JSON Schema can say of a type, and what is left to say in words.
struct JSONSchemaRules {
    private(set) var remarks: [String] = []
    private var keywords: [JSONValue.Member] = []
    private var patterns: [String] = []
    private var minimumLength: Int64 = 0

    init() {}

    init(_ type: ValueType) {
        switch type.name {
        case .string: addString(type)
        case .number: addNumber(type)
        case .boolean: patterns.append(Self.boolean)
        case .url: addURL(type)
        case .enum:
            if let members = type.members { keywords.append(.init("enum", .strings(members))) }
        case .email:
            keywords.append(.init("format", "email"))
            patterns.append(Self.email)
        case .port:
            patterns.append(Self.port)
            addLimits(type)
        case .ip:
            let isSix = type.decimal("version") == "6"
            keywords.append(.init("format", isSix ? "ipv6" : "ipv4"))
        case .semver: patterns.append(Self.semver)
        case .isoDate: remarks.append("A date or time in ISO 8601 format.")
        case .uuid:
            keywords.append(.init("format", "uuid"))
            patterns.append(Self.uuid)
        case .md5: patterns.append("^[0-9a-f]{32}$")
        case .simpleObject, .record:
            keywords.append(.init("contentMediaType", "application/json"))
            keywords.append(.init("contentSchema", ["type": "object"]))
        case .duration:
            patterns.append(Self.duration)
            addLimits(type)
        case .array:
            let separator = type.text("separator") ?? ","
            remarks.append("A JSON array, or a list separated by \"\(separator)\".")
        }
    }

    /// Whether every text fits.
    var isEmpty: Bool { keywords.isEmpty && patterns.isEmpty && minimumLength == 0 }

    /// - Parameter isRequired: A required variable must not be empty.
    func members(isRequired: Bool) -> [JSONValue.Member] {
        var members = keywords
        let length = max(minimumLength, isRequired ? 1 : 0)
        if length > 0 { members.append(.init("minLength", .integer(length))) }
        if patterns.count == 1 {
            members.append(.init("pattern", .string(patterns[0])))
        } else if !patterns.isEmpty {
            let all = patterns.map { JSONValue.object([.init("pattern", .string($0))]) }
            members.append(.init("allOf", .array(all)))
        }
        return members
    }

    // MARK: Types with options

    /// JSON Schema counts characters where the schema counts UTF-16 units. They differ only beyond
    /// the basic plane.
    private mutating func addString(_ type: ValueType) {
        if let exact = type.length("isLength") {
            minimumLength = exact
            keywords.append(.init("maxLength", .integer(exact)))
        } else {
            minimumLength = type.length("minLength") ?? 0
            if let most = type.length("maxLength") {
                keywords.append(.init("maxLength", .integer(most)))
            }
        }
        if let start = type.text("startsWith"), !start.isEmpty {
            patterns.append("^" + JavaScriptPattern.escaped(start))
        }
        if let end = type.text("endsWith"), !end.isEmpty {
            patterns.append(JavaScriptPattern.escaped(end) + "$")
        }
        addMatches(type)
    }

    private mutating func addNumber(_ type: ValueType) {
        let isWhole = type.options["isInt"] == .flag(true) || type.decimal("precision") == "0"
        patterns.append(isWhole ? "^[+-]?[0-9]+$" : Self.number)
        addLimits(type)
        if let divisor = type.decimal("isDivisibleBy") {
            remarks.append("A multiple of \(divisor).")
        }
    }

    private mutating func addURL(_ type: ValueType) {
        // The format "uri" would refuse several hosts in one, as databases have them.
        remarks.append("An absolute URL.")
        patterns.append("^[A-Za-z][A-Za-z0-9+.-]*:")
        if case .list(let domains) = type.options["allowedDomains"], !domains.isEmpty {
            remarks.append("On one of these hosts: \(domains.joined(separator: ", ")).")
        }
        if type.options["noTrailingSlash"] == .flag(true) { patterns.append("[^/]$") }
        addMatches(type)
    }

    private mutating func addMatches(_ type: ValueType) {
        guard let pattern = type.text("matches") else { return }
        if let plain = JavaScriptPattern.plain(pattern) {
            patterns.append(plain)
        } else {
            remarks.append("Matches \(pattern)")
        }
    }

    /// A pattern cannot compare numbers.
    private mutating func addLimits(_ type: ValueType) {
        if let least = type.text("min") { remarks.append("At least \(least).") }
        if let most = type.text("max") { remarks.append("At most \(most).") }
    }

    // MARK: Patterns

    private static let number = #"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"#

    private static let port =
        "^0*(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$"

    private static let uuid =
        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-5][0-9a-fA-F]{3}-[089abAB][0-9a-fA-F]{3}"
        + "-[0-9a-fA-F]{12}$"

    private static let email =
        #"^(?:[^\s<>()\[\]\\.,;:@"]+(?:\.[^\s<>()\[\]\\.,;:@"]+)*|".+")@"#
        + #"(?:\[[0-9]{1,3}(?:\.[0-9]{1,3}){3}\]|(?:[a-zA-Z0-9-]+\.)+[a-zA-Z]{2,})$"#

    private static let semver =
        #"^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)"#
        + #"(?:-(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"#
        + #"(?:\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?"#
        + #"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$"#

    private static let boolean = anyCase([
        "t", "true", "yes", "on", "1", "f", "false", "no", "off", "0",
    ])

    private static let duration = anyCase(
        [
            "ms", "millis", "milliseconds?", "s", "secs?", "seconds?", "m", "mins?", "minutes?",
            "h", "hrs?", "hours?", "d", "days?", "w", "wks?", "weeks?",
        ], before: #"[0-9]+(?:\.[0-9]+)?(?: *(?:"#, after: "))?")

    /// JSON Schema has patterns without flags.
    private static func anyCase(
        _ words: [String], before: String = "(?:", after: String = ")"
    ) -> String {
        let either = words.map { word in
            word.map { character in
                character.isLetter ? "[\(character)\(character.uppercased())]" : "\(character)"
            }.joined()
        }
        return "^\(before)\(either.joined(separator: "|"))\(after)$"
    }
}

extension ValueType {
    /// The decimal as written.
    fileprivate func decimal(_ option: String) -> String? {
        if case .number(let text) = options[option] { text } else { nil }
    }

    fileprivate func length(_ option: String) -> Int64? {
        decimal(option).flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
