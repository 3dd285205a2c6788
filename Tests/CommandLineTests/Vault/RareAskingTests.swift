import Sandbox
import TestSupport
import Testing

/// How often ordinary use asks a question: a person who is asked often learns to say yes.
@Suite("Few questions")
struct RareAskingTests {
    private typealias Step = (arguments: [String], input: String?)

    /// The commands of a first day. Some need others before them.
    private static func steps(token: String) -> [Step] {
        [
            (["login"], token), (["import", "-", "-p", "web"], "A=first\nB=second\n"),
            (["link", "web", "--yes"], nil), (["set", "A", "-p", "web"], "changed"),
            (["unlock", "--json"], nil), (["run", "-q", "-p", "web", "--", "printenv", "A"], nil),
            (["set", "C", "-p", "web", "--push", "--yes"], "third"),
            (["push", "-p", "web", "--yes"], nil),
            (["rm", "B", "-p", "web", "--yes"], nil), (["pull", "-p", "web", "--yes"], nil),
            (["export", "-p", "web", "--format", "json"], nil),
        ]
    }

    /// Runs commands while the vault is unlocked by `init`.
    private func run(
        _ steps: [Step], at platform: SandboxHome
    ) throws -> (first: ProgramResult, others: [ProgramResult], last: ProgramResult) {
        let (home, url) = (platform.home, platform.url)
        return try LoginThread.run(.session) {
            let passphrase = CommandHome.passphrase
            let first = try home.terminalRunner(
                ["init", "--kdf", "8MiB,1"],
                script: [
                    (.terminal("New passphrase: "), .line(passphrase)),
                    (.terminal("Confirm passphrase: "), .line(passphrase)),
                ]
            ).run()
            let others = try steps.map { step in
                try home.run(
                    step.arguments, input: step.input.map { .text($0) } ?? .null,
                    // Its passphrase is for the second unlock, which is not a question.
                    unlocked: step.arguments[0] == "unlock",
                    environment: ["ZG_ENV_API_URL": url])
            }
            return (first, others, try home.run(["unlock", "--json"]))
        }
    }

    @Test func `the first use has two prompts, both from init`() throws {
        let platform = try SandboxHome(hasVault: false, isLoggedIn: false)
        let steps = Self.steps(token: platform.token).filter { $0.arguments[0] != "unlock" }
        let results = try run(steps, at: platform)
        done(results.first)
        // Nobody is there to answer a prompt.
        for result in results.others { done(result) }
        #expect(results.others[4].output == "changed\n")
        done(results.last)
    }

    @Test func `no order of commands asks again while unlocked`() throws {
        let all = Self.steps(token: "").indices
        let orders = all.map { Array(all[$0...]) + Array(all[..<$0]) }
        for order in orders + [all.reversed()] {
            let platform = try SandboxHome(hasVault: false, isLoggedIn: false)
            let steps = Self.steps(token: platform.token)
            let results = try run(order.map { steps[$0] }, at: platform)
            for (number, result) in zip(order, results.others) {
                let command = steps[number].arguments
                // A push before the link fails for other reasons.
                #expect(result.status != 3, "\(order): \(command): \(result.error)")
            }
            done(results.last)
        }
    }
}
