/// Which target a schema means by the name of an environment.
package enum EnvironmentNames {
    /// Returns `production`, `preview`, `development`, the slug of a custom environment, or nil if
    /// the name stands for none. Names are compared without regard to the case of ASCII letters.
    ///
    /// - Parameters:
    ///   - customEnvironments: The slugs of the project's custom environments.
    ///   - settings: Targets by name, as the user set them. They decide first.
    package static func target(
        of name: String, customEnvironments: [String] = [], settings: [String: String] = [:]
    ) -> String? {
        if let target = settings[name] { return target }
        // Sorted, so that the answer is always the same where two settings differ only in case.
        if let match = settings.keys.sorted().first(where: { $0.isEqualIgnoringCase(name) }) {
            return settings[match]
        }
        if let slug = customEnvironments.first(where: { $0 == name })
            ?? customEnvironments.first(where: { $0.isEqualIgnoringCase(name) })
        {
            return slug
        }
        return builtIn.first { $0.name.isEqualIgnoringCase(name) }?.target
    }

    private static let builtIn: [(name: String, target: String)] = [
        ("production", "production"), ("prod", "production"), ("live", "production"),
        ("preview", "preview"), ("staging", "preview"), ("stage", "preview"),
        ("development", "development"), ("dev", "development"), ("local", "development"),
    ]
}

extension SchemaRequirement {
    /// Whether the variable must be present in a target. A name that stands for no target excludes
    /// and includes none.
    ///
    /// - Parameters:
    ///   - target: `production`, `preview`, `development` or the slug of a custom environment.
    ///   - customEnvironments: The slugs of the project's custom environments.
    ///   - settings: Targets by name, as the user set them.
    package func holds(
        for target: String, customEnvironments: [String] = [], settings: [String: String] = [:]
    ) -> Bool {
        func contains(_ names: [String]) -> Bool {
            names.contains {
                EnvironmentNames.target(
                    of: $0, customEnvironments: customEnvironments, settings: settings) == target
            }
        }
        return switch self {
        case .always: true
        case .never, .depends: false
        case .environments(let names): contains(names)
        case .exceptEnvironments(let names): !contains(names)
        }
    }

    /// The names of environments in it.
    package var environmentNames: [String] {
        switch self {
        case .environments(let names), .exceptEnvironments(let names): names
        case .always, .never, .depends: []
        }
    }
}

extension String {
    fileprivate func isEqualIgnoringCase(_ other: String) -> Bool {
        func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
        return utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { lower($0) == lower($1) }
    }
}
