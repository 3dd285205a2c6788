internal import JSON
import Sandbox
import TestSupport
import Testing

/// A home with a vault, and a sandbox that it is logged in to.
final class SandboxHome {
    /// The sandbox's initial content: `web` of the user with a custom environment, `api` of a team,
    /// and `bare` without a deployment.
    static let seed = """
        {
          "teams": [{"slug": "acme", "name": "Acme"}],
          "projects": [
            {"name": "web", "framework": "nextjs",
             "customEnvironments": [{"slug": "qa", "type": "preview"}],
             "env": [{"key": "SEED_ONLY", "value": "seed", "target": ["production"]}],
             "deployments": [{"target": "preview", "branch": "feature"},
                             {"target": "production"}]},
            {"name": "api", "team": "acme", "deployments": [{"target": "production"}]},
            {"name": "bare"}
          ]
        }
        """

    /// The same without variables, for what counts those that a vault does not know.
    static let bareSeed = seed.replacing(
        #"{"key": "SEED_ONLY", "value": "seed", "target": ["production"]}"#, with: "")

    let home: CommandHome
    let server: SandboxServer
    let url: String
    let token: String
    /// Somebody else with the same permissions.
    let teammate: SandboxCaller

    /// Starts the sandbox, creates the vault, and logs in.
    init(
        seed: String = SandboxHome.seed, buildSeconds: Double = 0.2,
        keyring: PrivateKeyring? = nil,
        hasVault: Bool = true, isLoggedIn: Bool = true,
        configure: (inout SandboxConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = SandboxConfiguration()
        configuration.seed = try Seed(json: Array(seed.utf8))
        configuration.buildSeconds = buildSeconds
        configure(&configuration)
        server = try SandboxServer(configuration: configuration)
        (url, token) = try server.start()
        teammate = SandboxCaller(url: url, token: token)
        home = try CommandHome(keyring: keyring)
        if hasVault { try home.initialise() }
        if isLoggedIn { done(try run("login", input: .text(token + "\n"))) }
    }

    deinit { server.stop() }

    /// Returns a runner that uses the sandbox.
    func runner(
        _ arguments: [String], input: ProgramRunner.Input = .null, unlocked: Bool = true,
        environment extra: [String: String] = [:]
    ) -> ProgramRunner {
        var variables = ["ZG_ENV_API_URL": url]
        variables.merge(extra) { $1 }
        return home.runner(arguments, input: input, unlocked: unlocked, environment: variables)
    }

    /// Runs `zg-env` to its end.
    func run(
        _ arguments: String..., input: ProgramRunner.Input = .null, unlocked: Bool = true,
        environment: [String: String] = [:]
    ) throws -> ProgramResult {
        try runner(arguments, input: input, unlocked: unlocked, environment: environment).run()
    }

    /// Sets a variable of `web` in the vault.
    func set(_ key: String, _ value: String, _ options: String...) throws {
        done(try runner(["set", key, "-p", "web", "--raw"] + options, input: .text(value)).run())
    }

    /// Runs `push -p web --yes --json` with more arguments.
    func push(_ arguments: String...) throws -> ProgramResult {
        try runner(["push", "-p", "web", "--yes", "--json"] + arguments).run()
    }

    /// Returns the report of a successful push.
    @discardableResult
    func pushed(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONDocument {
        let result = try runner(["push", "-p", "web", "--yes", "--json"] + arguments).run()
        return try json(result, sourceLocation: sourceLocation)
    }

    /// Replaces the faults.
    func setFaults(_ texts: String...) throws {
        server.setFaults(try texts.map { try #require(Fault($0), "\($0)") })
    }

    /// The sync states of a key's records of `web` in `list`.
    func syncs(_ key: String) throws -> [String?] {
        let list = try json(run("list", key, "-p", "web", "--json"))
        return (list["variables"]?.elements ?? []).map { $0["sync"]?.text }
    }

    /// The sync state of a key's first record of `web` in `list`.
    func sync(_ key: String) throws -> String? { try syncs(key).first ?? nil }

    // MARK: State of the sandbox

    /// All records of `web`.
    var stored: [StoredVariable] { server.storedVariables(project: "web") ?? [] }

    /// The records of a key of `web` as `targets@branch=value`, custom environments as `qa`,
    /// sorted.
    func records(_ key: String) -> [String] {
        stored.filter { $0.key == key }.map { record in
            let places = record.targets + record.customEnvironmentIds.map { _ in "qa" }
            return places.joined(separator: ",") + (record.gitBranch.map { "@" + $0 } ?? "") + "="
                + record.value
        }.sorted()
    }

    /// The id of the only record of a key of `web`.
    func id(_ key: String) throws -> String {
        let records = stored.filter { $0.key == key }
        #expect(records.count == 1)
        return try #require(records.first).id
    }

    /// The requests that `body` caused, as `METHOD path`, without the query.
    func requests(of body: () throws -> Void) rethrows -> [String] {
        let before = server.requests.count
        try body()
        return server.requests.dropFirst(before).map { request in
            request.method + " " + (request.path.split(separator: "?").first.map(String.init) ?? "")
        }
    }

    /// The modifying requests that `body` caused.
    func writes(of body: () throws -> Void) rethrows -> [String] {
        try requests(of: body).filter { !$0.hasPrefix("GET ") }
    }

    /// The id of the live deployment of `web`.
    func current() throws -> String? {
        try teammate.send("GET", "/v9/projects/web")["targets"]?["production"]?["id"]?.string
    }

    /// The ids of a project's deployments, newest first.
    func deployments(of project: String = "web") throws -> [String] {
        let list = try teammate.send("GET", "/v6/deployments?limit=100&app=\(project)")
        return list["deployments"]?.array?.compactMap { $0["uid"]?.string } ?? []
    }
}

extension JSONDocument {
    /// The keys in a list of a push's report.
    func keys(_ list: String) -> [String] {
        (self[list]?.elements ?? []).compactMap { $0["key"]?.text }
    }

    /// The reasons in a list of a push's report.
    func reasons(_ list: String) -> [String] {
        (self[list]?.elements ?? []).compactMap { $0["reason"]?.text }
    }
}

/// The report on stdout and the error object on stderr of a failed push.
func failedReport(
    _ result: ProgramResult, _ status: Int32, _ code: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> (report: JSONDocument, message: String) {
    #expect(
        result.end == .exited(status), "\(result.error)\(result.output)",
        sourceLocation: sourceLocation)
    let error = try JSONDocument(result.standardError)["error"]
    #expect(error?["code"] == .string(code), "\(result.error)", sourceLocation: sourceLocation)
    let report = try #require(
        try? JSONDocument(result.standardOutput), "\(result.error)",
        sourceLocation: sourceLocation)
    return (report, (error?["message"]?.text ?? "") + " " + (error?["hint"]?.text ?? ""))
}
