package import EnvSchema

/// Which target of one project a schema means by the name of an environment.
package struct EnvironmentMapping {
    private let customEnvironments: [String]
    private let settings: [String: String]

    /// - Parameters:
    ///   - customEnvironments: The slugs of the project's custom environments.
    ///   - settings: Targets by name, as the user set them.
    package init(customEnvironments: [String], settings: [String: String]) {
        self.customEnvironments = customEnvironments
        self.settings = settings
    }

    /// Returns the target of a name; nil if it stands for none.
    package func target(of name: String) -> String? {
        EnvironmentNames.target(
            of: name, customEnvironments: customEnvironments, settings: settings)
    }

    /// Whether a variable must be present in a target.
    package func holds(_ requirement: SchemaRequirement, for target: String) -> Bool {
        requirement.holds(
            for: target, customEnvironments: customEnvironments, settings: settings)
    }
}
