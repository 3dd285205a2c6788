import CTestSupport
import Foundation
import Glibc
import PostalProtocol
import Sealing
import TestSupport
import Threads
import WebhookSigning

/// The real program with its own database and hooks, on a port of 127.0.0.1.
final class RelayProcess: @unchecked Sendable {
    /// A hook with its identifiers and secret.
    struct Hook: Sendable {
        let name: String
        let account: String
        let secret: String
    }

    static let hook = Hook(
        name: "hook-of-team-alpha", account: "team_alpha", secret: "sec-alpha-7c1")
    static let otherHook = Hook(
        name: "hook-of-team-beta0", account: "team_beta", secret: "sec-beta-91d")

    let directory: TemporaryDirectory
    private let options: [String]
    /// The program's whole environment.
    var environment = ["LC_ALL": "C.UTF-8"]
    private let store: [String]
    private var child: ChildProcess?
    /// Read by sending threads while the program restarts.
    private let listening = Monitor<UInt16>(0)

    /// The port since its last start.
    var port: UInt16 { listening.look { $0 } }

    var database: String { directory.path("postal.db") }
    var processID: Int32 { child?.identifier ?? -1 }

    /// - Parameter store: The store; by default a database in its own directory.
    init(_ options: [String] = [], store: [String] = []) throws {
        directory = try TemporaryDirectory(named: "zg-relay")
        self.store = store.isEmpty ? ["--database", directory.path("postal.db")] : store
        self.options = options
        try directory.makeDirectory("hooks")
        for hook in [Self.hook, Self.otherHook] { try write(hook) }
    }

    deinit { kill() }

    /// Writes a hook's file to the directory of secrets.
    func write(_ hook: Hook) throws {
        try directory.write(
            #"{"account":"\#(hook.account)","secret":"\#(hook.secret)"}"# + "\n",
            to: "hooks/zg-webhook.\(hook.name)")
    }

    /// Its standard error, over all starts.
    var errors: String {
        (try? String(contentsOfFile: directory.path("log"), encoding: .utf8)) ?? ""
    }

    /// Starts the program and waits until it listens.
    func start() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe zg_test_pipe(&ends) == 0 else { throw CheckFailure("pipe2") }
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        let log = unsafe open(
            directory.path("log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer {
            close(ends[0])
            close(null)
            close(log)
        }
        var description = ChildProcess.Description(
            try ProgramRunner.pathOfProduct("zg-env-postal"),
            ["serve", "--json", "--listen", "127.0.0.1:0"] + store
                + ["--webhook-secrets", directory.path("hooks")] + options,
            environment: environment)
        description.descriptors = [0: null, 1: ends[1], 2: log]
        child = try ChildProcess(description)
        close(ends[1])
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while unsafe read(ends[0], &byte, 1) == 1, byte != 0x0A { line.append(byte) }
        let text = String(decoding: line, as: UTF8.self)
        guard let range = text.range(of: "127.0.0.1:"),
            let port = UInt16(text[range.upperBound...].prefix { $0.isNumber })
        else { throw CheckFailure("the relay did not start: \(text) \(errors.suffix(500))") }
        listening.look { $0 = port }
    }

    /// Starts it; fails while a cluster elects a leader.
    func startWhenPossible() throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do { return try start() } catch {
                kill()
                guard ContinuousClock.now < end else { throw error }
                usleep(200_000)
            }
        }
    }

    /// Waits until all three servers of its cluster have everything.
    func waitForCopies() throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let status = try run("status")
            if status.output.contains("replicas: 3 of 3") { return }
            guard ContinuousClock.now < end else {
                throw CheckFailure("not all servers came back: \(status.output) \(status.error)")
            }
            usleep(300_000)
        }
    }

    /// Kills it.
    func kill() {
        child?.signal(SIGKILL)
        child?.reap()
        child = nil
    }

    /// Terminates it.
    func stop() -> ChildProcess.End? {
        child?.signal(SIGTERM)
        let end = child?.reap()
        child = nil
        return end
    }

    func signal(_ number: Int32) { child?.signal(number) }

    /// Runs a management command on the same store.
    func run(_ arguments: String...) throws -> ProgramResult {
        try ProgramRunner("zg-env-postal", arguments + store).run()
    }

    /// An invite code for one device.
    func invite(_ accounts: [String] = ["team_alpha"], expires: String = "1h") throws -> String {
        let result = try run(
            "invite", "--account", accounts.joined(separator: ","), "--expires", expires)
        guard result.status == 0 else { throw CheckFailure("invite: \(result.error)") }
        return String(result.output.dropLast())
    }

    /// One number of `/metrics`.
    func metric(_ name: String) throws -> Int {
        let page = try client().request("GET", "/metrics")
        for line in page.text.split(separator: "\n") where line.hasPrefix(name + " ") {
            return Int(Double(line.dropFirst(name.count + 1)) ?? -1)
        }
        throw CheckFailure("there is no \(name)")
    }

    /// The number of requests refused for a reason.
    func refused(_ reason: String) throws -> Int {
        try metric("zg_postal_refused_total{reason=\"\(reason)\"}")
    }

    func client() throws -> RelayClient { try RelayClient(port: port) }

    /// Sends a webhook as Vercel would, over its own connection.
    func send(_ body: String, to hook: Hook = RelayProcess.hook, signature: String? = nil) throws
        -> RelayClient.Answer
    {
        try client().send(body, to: hook, signature: signature)
    }
}

/// Vercel's side of a webhook.
enum TestWebhook {
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    static func signature(_ body: [UInt8], _ secret: String) -> String {
        let code = WebhookSignature.code(of: body, openSecret: Array(secret.utf8)) ?? []
        return code.map { String(format: "%02x", $0) }.joined()
    }

    /// A deployment event whose names must not be found anywhere in plain text.
    static func deployment(
        _ id: String, type: String = "deployment.ready", account: String = "team_alpha",
        createdAt: Int64 = now, message: String = "Repair the login"
    ) -> String {
        #"{"id":"\#(id)","type":"\#(type)","createdAt":\#(createdAt),"region":null,"payload":{"#
            + #""team":{"id":"\#(account)"},"user":{"id":"user_of_the_test"},"target":"production","#
            + #""project":{"id":"prj_marker_project"},"links":{"deployment":"https://x"},"#
            + #""deployment":{"id":"dpl_marker_deployment","name":"marker-project-name","#
            + #""url":"marker-url.vercel.app","meta":{"githubCommitRef":"marker-branch","#
            + #""githubCommitMessage":"\#(message)","githubCommitAuthorName":"marker-author"}}}}"#
    }
}

/// A device as the protocol describes it.
final class TestDevice: @unchecked Sendable {
    private let seed = Random.bytes(32)
    let publicKey: String
    private(set) var token = ""
    private(set) var id = ""
    private(set) var start: Int64 = 0

    init() throws {
        publicKey = Data(try Self.pair(seed).publicKey).base64EncodedString()
    }

    /// The body of `POST /devices`.
    func joining(_ code: String) -> String {
        #"{"invite":"\#(code)","publicKey":"\#(publicKey)"}"#
    }

    func join(_ relay: RelayProcess, _ accounts: [String] = ["team_alpha"]) throws {
        let answer = try relay.client().request(
            "POST", "/devices", body: joining(try relay.invite(accounts)))
        let value = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        guard answer.status == 201, let token = value?["token"] as? String,
            let id = value?["device"] as? String, let number = value?["number"] as? NSNumber
        else { throw CheckFailure("the device was not let in: \(answer.status) \(answer.text)") }
        (self.token, self.id, start) = (token, id, number.int64Value)
    }

    /// Joins a relay of a cluster, whose servers may be electing a leader again after it started:
    /// until then an invite ends with "Try again".
    func joinWhenPossible(_ relay: RelayProcess) throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do { return try join(relay) } catch {
                guard ContinuousClock.now < end else { throw error }
                usleep(200_000)
            }
        }
    }

    var authorization: [String: String] { ["Authorization": "Bearer \(token)"] }

    /// The content of a sealed event.
    func opened(_ base64: String) throws -> PostalEvent {
        guard let sealed = Data(base64Encoded: base64), sealed.count > 48 else {
            throw CheckFailure("the event is no base64")
        }
        var text = try SecretBytes(count: sealed.count - SealedBox.overheadByteCount)
        let pair = try Self.pair(seed)
        try [UInt8](sealed).withBytes { sealed in
            try text.withMutableBytes { try SealedBox.open(sealed, with: pair, into: &$0) }
        }
        let bytes = text.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
        guard let event = PostalEvent(sealedText: bytes), bytes.count % PostalEvent.padding == 0
        else {
            throw CheckFailure("the event has another form")
        }
        return event
    }

    private static func pair(_ seed: [UInt8]) throws -> SealedBox.KeyPair {
        try SealedBox.KeyPair(seed: seed.withBytes { bytes in try SecretBytes(copying: bytes) })
    }
}
