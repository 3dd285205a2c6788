/// Which target of one project a schema means by the name of an environment.
package struct EnvironmentMapping {
    private let customEnvironments: [String]
    private let settings: [String: String]

    /// - Parameters:
    ///   - customEnvironments: The slugs of the project's custom environments.
    ///   - settings: Targets by name, as the user set them. They decide first.
    package init(customEnvironments: [String] = [], settings: [String: String] = [:]) {
        self.customEnvironments = customEnvironments
        self.settings = settings
    }

    /// Returns `production`, `preview`, `development`, the slug of a custom environment, or nil if
    /// the name stands for none. Names are compared without regard to the case of ASCII letters.
    package func target(of name: String) -> String? {
        if let target = settings[name] { return target }
        // Sorted, so that the answer is always the same where two settings differ only in case.
        if let match = settings.keys.sorted().first(where: { $0.isEqualIgnoringCase(name) }) {
            return settings[match]
        }
        return customEnvironments.first { $0 == name }
            ?? customEnvironments.first { $0.isEqualIgnoringCase(name) }
            ?? Self.builtIn.first { $0.name.isEqualIgnoringCase(name) }?.target
    }

    private static let builtIn: [(name: String, target: String)] = [
        ("production", "production"), ("prod", "production"), ("live", "production"),
        ("preview", "preview"), ("staging", "preview"), ("stage", "preview"),
        ("development", "development"), ("dev", "development"), ("local", "development"),
    ]

    /// Whether a variable must be present in a target. A name that stands for no target excludes
    /// and includes none.
    ///
    /// - Parameter target: `production`, `preview`, `development` or the slug of a custom
    ///   environment.
    package func holds(_ requirement: SchemaRequirement, for target: String) -> Bool {
        switch requirement {
        case .always: true
        case .never, .depends: false
        case .environments(let names): names.contains { self.target(of: $0) == target }
        case .exceptEnvironments(let names): !names.contains { self.target(of: $0) == target }
        }
    }
}

extension SchemaRequirement {
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
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0.lowerCase == $1.lowerCase }
    }
}
