import Sealing
import Testing
import VercelAPI

@Suite struct `Limits checked before sending` {
    private typealias Rules = EnvironmentVariableRules

    private func problems(
        _ key: String = "KEY", valueByteCount: Int = 1,
        type: EnvironmentVariable.Kind = .encrypted,
        targets: [EnvironmentVariable.Target] = [.production], branch: String? = nil,
        environments: [String] = [], comment: String? = nil, productionBranch: String? = nil
    ) throws -> [EnvironmentVariableRules.Problem] {
        let value = try SecretArena().allocate(count: valueByteCount)
        return Rules.problems(
            of: NewEnvironmentVariable(
                key: key, value: value, type: type, targets: targets, gitBranch: branch,
                customEnvironmentIds: environments, comment: comment),
            productionBranch: productionBranch)
    }

    @Test(arguments: [
        "A", "a1", "_X", "A_B_2", "AWS_ACCESS_KEY_ID", "AWS_REGION", "VERCEL_MINE",
        String(repeating: "K", count: 256),
    ])
    func `names that are accepted`(key: String) throws {
        #expect(try problems(key).isEmpty)
    }

    @Test(arguments: ["", "1A", "A-B", "A B", "A.B", "É", "A=", "A\n", "a\u{301}"])
    func `names that are refused`(key: String) throws {
        #expect(try problems(key) == [.keyInvalid])
    }

    @Test func `names that are reserved or too long`() throws {
        for key in Rules.reservedKeys { #expect(try problems(key) == [.keyReserved]) }
        #expect(Rules.reservedKeys.count == 11)
        #expect(try problems(String(repeating: "K", count: 257)) == [.keyTooLong])
    }

    @Test func `scopes`() throws {
        #expect(try problems(targets: []) == [.noScope])
        #expect(try problems(targets: [], environments: ["env_1"]).isEmpty)
        #expect(
            try problems("VITE_A", type: .sensitive, targets: [.production])
                == [.secretIsPublic(prefix: "VITE_")])
        // Vercel decides about a Secret for development.
        #expect(try problems(type: .sensitive, targets: [.production, .development]).isEmpty)
        #expect(try problems(type: .sensitive, targets: [.production, .preview]).isEmpty)
        #expect(try problems(targets: [.preview], branch: "dev").isEmpty)
        #expect(try problems(targets: [.production], branch: "dev") == [.branchWithoutPreview])
        #expect(
            try problems(targets: [.preview, .development], branch: "dev")
                == [.branchWithoutPreview])
        #expect(
            try problems(targets: [.preview], branch: "dev", environments: ["env_1"])
                == [.branchWithoutPreview])
        #expect(
            try problems(targets: [.preview], branch: "main", productionBranch: "main")
                == [.branchIsProduction])
        #expect(try problems(targets: [.preview], branch: "") == [.branchInvalid])
        #expect(
            try problems(targets: [.preview], branch: String(repeating: "b", count: 251))
                == [.branchInvalid])
        #expect(try problems(comment: String(repeating: "c", count: 501)) == [.commentTooLong])
        #expect(try problems(comment: String(repeating: "é", count: 500)).isEmpty)
    }

    @Test func `sizes`() throws {
        #expect(try problems(valueByteCount: 65536).isEmpty)
        #expect(try problems(valueByteCount: 65537) == [.valueTooLarge(byteCount: 65537)])
    }

    @Test func `the size of all variables of a deployment together`() {
        typealias Entry = EnvironmentVariableRules.Entry
        let half = Entry(key: "A", valueByteCount: 32767, targets: [.production, .preview])
        let full = Entry(key: "B", valueByteCount: 32767, targets: [.production])
        #expect(Rules.totalProblems(of: [half, full]).isEmpty)
        let over = Entry(key: "C", valueByteCount: 0, targets: [.production])
        #expect(
            Rules.totalProblems(of: [half, full, over])
                == [.totalTooLarge(scope: "production", byteCount: 65537)])
        // A branch's own variable replaces the general one there.
        let branch = Entry(
            key: "A", valueByteCount: 65535, targets: [.preview], gitBranch: "dev")
        #expect(Rules.totalProblems(of: [half, branch]).isEmpty)
        let added = Entry(
            key: "Z", valueByteCount: 65535, targets: [.preview], gitBranch: "dev")
        #expect(
            Rules.totalProblems(of: [half, added])
                == [.totalTooLarge(scope: "preview (dev)", byteCount: 98304)])
        let custom = Entry(
            key: "C", valueByteCount: 70000, targets: [], customEnvironmentIds: ["env_1"])
        #expect(
            Rules.totalProblems(of: [custom])
                == [.totalTooLarge(scope: "env_1", byteCount: 70001)])
        let absurd = Entry(key: "C", valueByteCount: .max, targets: [.preview])
        #expect(Rules.totalProblems(of: [absurd, absurd]).count == 1)
    }

    @Test func `every problem has its own description`() throws {
        let all: [EnvironmentVariableRules.Problem] = [
            .keyInvalid, .keyTooLong, .keyReserved, .noScope, .secretIsPublic(prefix: "A_"),
            .branchWithoutPreview, .branchIsProduction, .branchInvalid, .commentTooLong,
            .valueTooLarge(byteCount: 7), .totalTooLarge(scope: "preview", byteCount: 7),
        ]
        #expect(Set(all.map(\.description)).count == all.count)
    }
}
