import EnvSchema
import Testing

@Suite struct EnvironmentNamesTests {
    @Test func settingsDecideFirst() {
        let settings = ["staging": "production", "QA": "preview"]
        func target(_ name: String) -> String? {
            EnvironmentNames.target(
                of: name, customEnvironments: ["staging", "Test"], settings: settings)
        }
        #expect(target("Staging") == "production")
        #expect(target("qa") == "preview")
        #expect(target("TEST") == "Test")
        #expect(target("LIVE") == "production")
        #expect(target("") == nil)
    }

    @Test func requirementsFollowTheNames() {
        let requirement = SchemaRequirement.exceptEnvironments(["qa", "ci"])
        #expect(!requirement.holds(for: "qa", customEnvironments: ["qa"]))
        #expect(requirement.holds(for: "qa"))
        #expect(!requirement.holds(for: "preview", settings: ["ci": "preview"]))
        #expect(requirement.environmentNames == ["qa", "ci"])
        #expect(!SchemaRequirement.depends.holds(for: "production"))
    }
}
