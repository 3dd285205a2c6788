import Sealing
import Testing

@testable import EnvOperations
@testable import Vault

@Suite("Findings about a project")
struct ProjectCheckTests {
    private let arena = SecretArena()

    private func subject(
        _ key: String, _ value: String?, _ targets: Scope.Targets = .all, custom: [String] = []
    ) throws -> ProjectCheck.Subject {
        ProjectCheck.Subject(
            variable: record(targets, custom: custom, key: key),
            value: try value.map { text in
                try Array(text.utf8).withBytes { try arena.copy($0) }
            })
    }

    private func findings(_ subjects: [ProjectCheck.Subject]) -> [ProjectCheck.Finding] {
        ProjectCheck(project: "web", subjects: subjects).findings()
    }

    private func codes(_ subjects: [ProjectCheck.Subject]) -> [ProjectCheck.Code] {
        findings(subjects).map(\.code)
    }

    private static let pem = "-----BEGIN KEY-----\nabc\n-----END KEY-----"

    private static let values: [(String, [ProjectCheck.Code])] = [
        ("value", []), ("", [.emptyValue]), ("value\n", [.blankAtEnds]),
        (" marker", [.blankAtEnds]),
        ("\t", [.blankAtEnds]), ("\"value\"", [.quotesAround]), ("'v'", [.quotesAround]),
        ("[SENSITIVE]", [.placeholder]), ("-----BEGIN KEY-----\nabc", [.cutPEM]), (pem, []),
        (pem + "\n", []), (pem + "\n\n", [.blankAtEnds]), (" " + pem + "\n", [.blankAtEnds]),
        ("{\\\"a\\\":1}", [.escapedQuotes]), ("[ {\\\"a\\\":1}]", [.escapedQuotes]),
        ("{\"a\":\"\\\"\"}", []), ("{", []), ("{\\", []),
        (String(repeating: "v", count: 65_537), [.overPlatformLimit]),
    ]

    @Test(arguments: values.indices)
    func `a value is judged by its content`(place: Int) throws {
        let (value, expected) = Self.values[place]
        let found = findings([try subject("KEY", value)])
        #expect(found.map(\.code) == expected)
        for finding in found {
            #expect(finding.variables == ["KEY (production, preview, development)"])
            if value.count > 3 { #expect(!finding.message.contains(value)) }
            #expect(!finding.remedy.isEmpty && finding.message.hasSuffix("."))
        }
    }

    @Test func `locked values are not judged`() throws {
        #expect(codes([try subject("KEY", nil), try subject("OTHER", nil)]) == [])
    }

    @Test func `names that differ only in case`() throws {
        let found = findings([
            try subject("Api_Key", nil), try subject("API_KEY", nil), try subject("OTHER", nil),
            try subject("API_KEY", nil, .preview),
        ])
        #expect(found.map(\.code) == [.namesDifferByCase])
        #expect(found.first?.variables == ["API_KEY", "Api_Key"])
    }

    @Test func `secrets in variables that browsers load`() throws {
        #expect(
            codes([
                try subject("NEXT_PUBLIC_STRIPE_SECRET", nil), try subject("VITE_TOKEN", nil),
                try subject("NEXT_PUBLIC_URL", nil), try subject("SECRET", nil),
            ]) == [.publicPrefix, .publicPrefix])
        let found = findings([
            try subject("NEXT_PUBLIC_STRIPE", "sk_live_0123456789abcdef"),
            try subject("STRIPE_SECRET", "sk_live_0123456789abcdef"),
        ])
        #expect(found.map(\.code) == [.publicSecret])
        #expect(found.first?.message.contains("sk_live") == false)
    }

    @Test func `one secret under several names`() throws {
        let found = findings([
            try subject("A", "0123456789abcdefghij"), try subject("B", "0123456789abcdefghij"),
            try subject("C", "0123456789abcdefghik"),
            try subject("A", "0123456789abcdefghij", .preview),
            try subject("DB_PASSWORD", "correct horse"), try subject("ADMIN", "correct horse"),
            try subject("ROOT_PASSWORD", "correct horse"),
            try subject("X", "https://example.com/1"), try subject("Y", "https://example.com/1"),
            try subject("P", "short1"), try subject("Q", "short1"),
            try subject("N", "production-build"), try subject("M", "production-build"),
        ])
        #expect(found.map(\.code) == [.sameSecret, .sameSecret])
        #expect(found.map(\.variables) == [["A", "B"], ["DB_PASSWORD", "ROOT_PASSWORD"]])
    }

    @Test func `one key with one value in several scopes is not a finding`() throws {
        #expect(
            codes([
                try subject("API_TOKEN", "0123456789abcdefghij", .production),
                try subject("API_TOKEN", "0123456789abcdefghij", .preview),
            ]) == [])
    }

    @Test func `unused variables`() throws {
        let gone = "env_0123456789abcdefghijkl"
        let found = findings([
            try subject("A", nil, []), try subject("B", nil, [], custom: [gone]),
            try subject("C", nil, [], custom: ["qa"]),
            try subject("D", nil, [], custom: [gone, "qa"]),
            try subject("E", nil, .preview, custom: [gone]),
        ])
        #expect(found.map(\.code) == [.unused, .unused])
        #expect(found.map { $0.variables.first?.prefix(1) } == ["A", "B"])
    }

    @Test func `thousands of variables are checked in a moment`() throws {
        let subjects = try (0..<3_000).map {
            try subject("KEY_\($0)", "0123456789abcdef_\($0 + 10_000)")
        }
        let clock = ContinuousClock()
        var found: [ProjectCheck.Code] = []
        let time = clock.measure { found = codes(subjects) }
        #expect(found == [])
        #expect(time < .seconds(20))
    }
}
