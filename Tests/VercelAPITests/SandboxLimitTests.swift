import CurlTransport
import HTTPClient
import Sandbox
import Sealing
import Testing
import VercelAPI

/// A sleeper that advances the sandbox's clock instead of waiting.
private final class SteppingRoom: Sleeper {
    private let server: SandboxServer
    private let start: Int64
    private(set) var waited: Duration = .zero

    init(_ server: SandboxServer, startSecond: Int64) {
        self.server = server
        start = startSecond
    }

    var elapsed: Duration { waited }
    var secondsSince1970: Int64 { start + waited.components.seconds }

    func wait(_ duration: Duration) -> Bool {
        waited += duration
        let (seconds, attoseconds) = duration.components
        server.advanceClock(bySeconds: Double(seconds) + Double(attoseconds) / 1e18)
        return true
    }
}

@Suite struct `The client and the limit of the sandbox` {
    /// Projects with `variables` variables each.
    private func seed(projects: Int, variables: Int) throws -> Seed {
        let env = (0..<variables).map {
            #"{"key":"K\#($0)","value":"v\#($0)","target":["production"]}"#
        }.joined(separator: ",")
        let list = (0..<projects).map { #"{"name":"p\#($0)","env":[\#(env)]}"# }
        return try Seed(json: Array(#"{"projects":[\#(list.joined(separator: ","))]}"#.utf8))
    }

    /// A started sandbox whose clock the client's waits advance.
    private func limited(
        _ arena: SecretArena, _ configure: (inout SandboxConfiguration) throws -> Void
    ) throws -> (SandboxServer, SteppingRoom, VercelClient) {
        let startSecond: Int64 = 1_800_000_000
        var configuration = SandboxConfiguration()
        configuration.clock = .manual(startMilliseconds: startSecond * 1000)
        try configure(&configuration)
        let server = try SandboxServer(configuration: configuration)
        let (url, token) = try server.start()
        let room = SteppingRoom(server, startSecond: startSecond)
        let client = try VercelClient(
            transport: CurlTransport(), origin: APIOrigin(url), token: arena.secret(token),
            waitingRoom: room)
        return (server, room, client)
    }

    @Test(
        "VER-L2: the client follows Vercel's limits by endpoint without being turned away for long")
    func limitsByEndpoint() throws {
        let arena = SecretArena()
        let (server, room, client) = try limited(arena) { configuration in
            configuration.seed = try seed(projects: 1, variables: 130)
            configuration.rateLimit = .perEndpoint
        }
        defer { server.stop() }
        let project = try client.project("p0")
        let records = try client.environmentVariables(ofProject: project.id).variables
        // Deletions are limited to 60 in a minute, whatever else was asked for.
        for record in records {
            _ = try client.deleteEnvironmentVariable(record.id, ofProject: project.id)
        }
        #expect(server.storedVariables(project: "p0")?.isEmpty == true)
        #expect(server.requests.allSatisfy { $0.status == 200 }, "no request was turned away")
        #expect(room.waited >= .seconds(119) && room.waited <= .seconds(2 * 62), "\(room.waited)")
    }

    @Test func `a thousand variables of a hundred projects, at 120 requests a minute`() throws {
        let arena = SecretArena()
        let (server, room, client) = try limited(arena) { configuration in
            configuration.seed = try seed(projects: 100, variables: 10)
            configuration.requestsPerMinute = 120
        }
        defer { server.stop() }

        // Names and metadata: one page of projects, and one list of each. No wait.
        let projects = try client.projects()
        #expect(projects.count == 100)
        let lists = try client.environmentVariables(ofProjects: projects.map(\.id)).map {
            try $0.get().variables
        }
        #expect(lists.reduce(0) { $0 + $1.count } == 1000)
        #expect(server.requests.count == 101)
        #expect(room.waited == .zero)

        // Every value separately, which is the maximum: ten minutes' worth.
        let wanted = zip(projects, lists).flatMap { project, list in
            list.map { (project: project.id, id: $0.id) }
        }
        let values = try client.environmentVariables(wanted, valuesInto: arena)
        for (variable, result) in zip(lists.flatMap { $0 }, values) {
            let read = try result.get()
            #expect(read.value?.exposedText == "v" + variable.key.dropFirst())
        }
        let requests = server.requests
        #expect(requests.count == 1101)
        #expect(requests.allSatisfy { $0.status == 200 }, "no request was turned away")
        // 1,101 requests fit in ten windows, nine of which are waited for.
        #expect(room.waited <= .seconds(9 * 62), "\(room.waited)")
        #expect(room.waited >= .seconds(9 * 60 - 1), "\(room.waited)")
    }
}
