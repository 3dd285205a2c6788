/// The decorators that env-spec has built in, and how each is written.
enum SpecDecoratorTable {
    enum Form {
        /// `@name` or `@name=value`, once.
        case value
        /// `@name(…)`, any number of times.
        case call
        case either
    }

    /// Decorators of items.
    static let items: [String: Form] = [
        "required": .value, "optional": .value, "sensitive": .value, "public": .value,
        "type": .value, "example": .value, "docs": .call, "docsUrl": .value, "deprecated": .value,
        "internal": .value, "proxy": .either, "dynamic": .value, "static": .value, "icon": .value,
        "tag": .call, "auditIgnore": .value, "placeholder": .value,
    ]

    private static let headers: [String: Form] = [
        "defaultRequired": .value, "defaultSensitive": .value, "currentEnv": .value,
        "envFlag": .value, "disable": .value, "import": .call, "plugin": .call,
        "setValuesBulk": .call, "defaultDynamic": .value, "cache": .value, "redactLogs": .value,
        "preventLeaks": .value, "encryptInjectedEnv": .value,
        "disableProcessEnvInjection": .value, "auditIgnorePaths": .call, "proxyConfig": .value,
        "proxy": .call,
    ]

    /// Returns how a decorator of the header is written, or nil if it has no such decorator.
    static func header(_ name: String) -> Form? {
        headers[name] ?? (isGenerator(name) ? .either : nil)
    }

    /// Whether the decorator makes the other tool write a file. There is one for each language.
    static func isGenerator(_ name: String) -> Bool {
        let prefix = "generate"
        guard name.utf8.starts(with: prefix.utf8) else { return false }
        return name.utf8.dropFirst(prefix.utf8.count).first.map { $0 &- 0x41 < 26 } ?? false
    }

    static func isBuiltIn(_ name: String) -> Bool { items[name] != nil || header(name) != nil }
}

extension SpecDecoratorTable.Form {
    func allows(_ decorator: SpecDecorator) -> Bool {
        switch self {
        case .value: !decorator.isCall
        case .call: decorator.isCall
        case .either: true
        }
    }
}
