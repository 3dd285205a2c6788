import Foundation
import Postal
import TestSupport

/// The state of a cluster, its relays and its devices when an event is missing: enough to tell
/// whether the servers lost it, a relay does not see it, or a device skipped it.
struct ClusterReport {
    let nats: PrivateNATS
    let relays: [RelayProcess]
    let readers: [ClusterReader]

    private static let stream = "zg_env_postal_events"
    private static let noAnswer = "no answer"

    /// Runs `body`, and reports everyone's state if it fails.
    func explain<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw CheckFailure("\(error)\n\(text(of: []))") }
    }

    /// The report for events that were not delivered as expected.
    func text(of ids: [String]) -> String {
        var lines: [String] = []
        for (place, reader) in readers.enumerated() {
            lines.append("device \(place): had everything up to \(reader.cursor)")
        }
        for (place, relay) in relays.enumerated() {
            let health = (try? relay.client().request("GET", "/healthz").text) ?? Self.noAnswer
            let metrics = (try? relay.client().request("GET", "/metrics").text) ?? ""
            let counts = metrics.split(separator: "\n").filter { $0.hasPrefix("zg_postal_") }
                .filter { !$0.contains("bucket") && !$0.hasSuffix(" 0") }
            lines.append("relay \(place): \(health); " + counts.joined(separator: ", "))
        }
        for number in nats.ports.indices { lines += messages(through: number, ids) }
        lines += files(ids)
        for number in nats.ports.indices {
            let log = try? String(contentsOfFile: nats.log(of: number), encoding: .utf8)
            lines.append("log of node\(number):")
            lines += (log ?? "").split(separator: "\n").suffix(40).map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// The leader's answer, requested through one server.
    private func messages(through number: Int, _ ids: [String]) -> [String] {
        guard let client = try? PlainNATSClient(port: nats.ports[number]) else {
            return ["node\(number): no connection"]
        }
        func ask(_ subject: String, _ question: String = "") -> String {
            (try? client.request("$JS.API.\(subject)", question)) ?? Self.noAnswer
        }
        let info = ask("STREAM.INFO.\(Self.stream)")
        var lines = ["node\(number): stream \(info)"]
        if number == 0 { lines.append("consumers \(ask("CONSUMER.LIST.\(Self.stream)"))") }
        guard let state = Self.object(info)?["state"] as? [String: Any],
            let first = state["first_seq"] as? Int, let last = state["last_seq"] as? Int,
            first <= last
        else { return lines }
        var places: [String: String] = [:]
        var chain = ""
        var gone: [Int] = []
        for sequence in first...last {
            let answer = ask("STREAM.MSG.GET.\(Self.stream)", #"{"seq":\#(sequence)}"#)
            if answer == Self.noAnswer { return lines + ["  message \(sequence): \(answer)"] }
            guard let message = Self.object(answer)?["message"] as? [String: Any] else {
                gone.append(sequence)
                continue
            }
            let head = (message["hdrs"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
            let text = String(decoding: head, as: UTF8.self)
            // An entry's number of the previous message.
            let data = (message["data"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
            let before = data.dropFirst(18).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            if sequence > last - 100 || before + 1 != sequence { chain += " \(before)<\(sequence)" }
            for id in ids where text.contains(Self.messageID(id)) {
                let time = message["time"] as? String ?? ""
                let name = text.split(separator: "\r\n").first { $0.hasPrefix("Nats-Msg-Id") }
                places[id, default: ""] +=
                    " \(sequence) of \(message["subject"] ?? "") at \(time) (\(name ?? ""))"
            }
        }
        for id in ids { lines.append("  \(id):\(places[id] ?? " not in the stream")") }
        lines.append("  the chain:\(chain)")
        lines.append("  numbers without a message: \(gone)")
        return lines
    }

    /// The servers whose files contain an event.
    private func files(_ ids: [String]) -> [String] {
        nats.ports.indices.map { number in
            var found: Set<String> = []
            let files = FileManager.default.enumerator(atPath: nats.store(of: number))
            for case let name as String in files ?? .init() {
                let path = nats.store(of: number) + "/" + name
                guard let bytes = FileManager.default.contents(atPath: path) else { continue }
                for id in ids where bytes.range(of: Data(Self.messageID(id).utf8)) != nil {
                    found.insert("\(id) in \(name)")
                }
            }
            return "files of node\(number): \(found.sorted())"
        }
    }

    private static func messageID(_ id: String) -> String {
        AcceptedEvent(account: RelayProcess.hook.account, id: id, acceptedAt: 0, text: []).digest
            .map { String(format: "%02x", $0) }.joined()
    }

    private static func object(_ text: String) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    }
}

/// The NATS protocol on the wire, so that a test can choose the server it asks.
final class PlainNATSClient {
    private let client: RelayClient
    private let port: UInt16
    private var count = 0

    init(port: UInt16) throws {
        client = try RelayClient(port: port, patience: 5)
        _ = try client.line()
        try client.write(
            "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB answer.\(port).* 1\r\n"
        )
        self.port = port
    }

    /// The number of the server that leads a stream.
    func leader(of stream: String) throws -> Int {
        let answer = try request("$JS.API.STREAM.INFO.\(stream)", "")
        let value = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        let name = (value?["cluster"] as? [String: Any])?["leader"] as? String
        guard let number = name.flatMap({ Int($0.dropFirst(4)) }) else {
            throw CheckFailure("\(stream) has no leader: \(answer)")
        }
        return number
    }

    /// The answer's text; throws if nobody responds.
    func request(_ subject: String, _ question: String) throws -> String {
        try request(subject, Array(question.utf8))
    }

    func request(_ subject: String, _ bytes: [UInt8]) throws -> String {
        count += 1
        let inbox = "answer.\(port).\(count)"
        try client.write(
            Array("PUB \(subject) \(inbox) \(bytes.count)\r\n".utf8) + bytes + [0x0D, 0x0A])
        while true {
            let words = try client.line().split(separator: " ")
            switch words.first {
            case "PING": try client.write("PONG\r\n")
            case "MSG", "HMSG":
                let length = Int(words.last ?? "") ?? 0
                let bytes = try client.bytes(length + 2).dropLast(2)
                guard words[1] == inbox else { continue }
                guard words[0] == "MSG" else { throw CheckFailure("no responders") }
                return String(decoding: bytes, as: UTF8.self)
            default: continue
            }
        }
    }
}
