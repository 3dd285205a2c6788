import EnvSchema
import Testing

@Suite struct EnvironmentMappingTests {
    @Test func settingsDecideFirst() {
        let settings = ["staging": "production", "QA": "preview"]
        func target(_ name: String) -> String? {
            EnvironmentMapping(customEnvironments: ["staging", "Test"], settings: settings)
                .target(of: name)
        }
        #expect(target("Staging") == "production")
        #expect(target("qa") == "preview")
        #expect(target("TEST") == "Test")
        #expect(target("LIVE") == "production")
        #expect(target("") == nil)
    }

    @Test func requirementsFollowTheNames() {
        let requirement = SchemaRequirement.exceptEnvironments(["qa", "ci"])
        let custom = EnvironmentMapping(customEnvironments: ["qa"])
        #expect(!custom.holds(requirement, for: "qa"))
        #expect(EnvironmentMapping().holds(requirement, for: "qa"))
        let set = EnvironmentMapping(settings: ["ci": "preview"])
        #expect(!set.holds(requirement, for: "preview"))
        #expect(requirement.environmentNames == ["qa", "ci"])
        #expect(!EnvironmentMapping().holds(.depends, for: "production"))
    }
}
