internal import JSON

/// Creates a store's two streams, and replicates them when there are enough servers.
struct NATSStreams {
    /// Any two of three servers continue without the third.
    static let wantedReplicas = 3

    /// Most messages per subject of the register. A device has at most three: pending, active,
    /// removed. All stay, so that a reader at any number knows every device up to it; with only the
    /// newest one, it could arrive after the older one is gone.
    private static let registerHistory: Int64 = 4

    /// Webhooks are refused if they are more than a day old or ten minutes in the future.
    private static let duplicateMilliseconds: Int64 = (24 * 60 + 20) * 60_000

    let api: JetStream
    let names: NATSNames
    let limits: StoreLimits

    struct State {
        var last: Int64
        var byteCount: Int64
        var subjects: [String]
        var replicas: Int
        /// Servers that are up to date, with the leader.
        var current: Int
    }

    /// Creates missing streams, and adds replicas to streams with fewer than three.
    func prepare() throws(StoreError) {
        for stream in [names.events, names.register] {
            switch try api.ask("STREAM.INFO.\(stream)") {
            case .value(let value):
                raise(stream, value)
                try raiseHistory(stream, value)
            case .refused(code: JetStream.Code.streamMissing): try make(stream)
            case .refused(let code): throw JetStream.refusal(code)
            }
        }
    }

    private func make(_ stream: String) throws(StoreError) {
        var last: Int64 = 0
        for replicas in stride(from: Self.wantedReplicas, through: 1, by: -1) {
            switch try api.ask("STREAM.CREATE.\(stream)", settings(stream, replicas: replicas)) {
            case .value: return
            case .refused(let code):
                last = code
                // Another relay was faster.
                if case .value? = try? api.ask("STREAM.INFO.\(stream)") { return }
                guard JetStream.Code.tooFewServers.contains(code) else {
                    throw JetStream.refusal(code)
                }
            }
        }
        throw JetStream.refusal(last)
    }

    /// A failure loses nothing and is retried later. A single server would accept any number of
    /// replicas.
    private func raise(_ stream: String, _ value: JSONValue) {
        guard value["cluster"]?["name"]?.nonEmptyString != nil,
            case .integer(let replicas)? = value["config"]?["num_replicas"],
            replicas < Self.wantedReplicas
        else { return }
        for count in stride(from: Self.wantedReplicas, to: Int(replicas), by: -1) {
            let answer = try? api.ask("STREAM.UPDATE.\(stream)", settings(stream, replicas: count))
            if case .value? = answer { return }
        }
    }

    /// Raises the history of a register that an earlier relay created.
    private func raiseHistory(_ stream: String, _ value: JSONValue) throws(StoreError) {
        guard stream == names.register,
            case .integer(let count)? = value["config"]?["max_msgs_per_subject"],
            count < Self.registerHistory,
            case .integer(let replicas)? = value["config"]?["num_replicas"]
        else { return }
        _ = try api.value("STREAM.UPDATE.\(stream)", settings(stream, replicas: Int(replicas)))
    }

    private func settings(_ stream: String, replicas: Int) -> JSONValue {
        let isRegister = stream == names.register
        let kept = limits.keptMilliseconds
        return [
            "name": .string(stream),
            "subjects": .strings(
                isRegister ? [names.allRegister] : [names.allEntries, names.allCopies]),
            "retention": .string("limits"), "storage": .string("file"),
            "discard": .string("old"), "num_replicas": .integer(Int64(replicas)),
            "max_age": .integer(isRegister ? 0 : kept * 1_000_000),
            "max_msgs_per_subject": .integer(isRegister ? Self.registerHistory : -1),
            "max_msgs": .integer(-1), "max_bytes": .integer(-1), "max_consumers": .integer(-1),
            "max_msg_size": .integer(-1),
            "duplicate_window": .integer(
                (isRegister ? 120_000 : min(Self.duplicateMilliseconds, kept)) * 1_000_000),
        ]
    }

    /// A warning about known server bugs. A server that is cut off while it leads may keep messages
    /// that the others did not agree to, while the others store different ones under the same
    /// numbers (nats-server changes 5957 and 5987).
    func warning() throws(StoreError) -> String? {
        guard try state(of: names.events).replicas > 1, try api.level() < 1 else { return nil }
        return
            "These NATS servers are older than 2.11: after a network split, one of "
            + "them may hold different events than the others."
    }

    func state(of stream: String) throws(StoreError) -> State {
        let answer = try api.ask(
            "STREAM.INFO.\(stream)", ["subjects_filter": .string("\(names.prefix).e.*")])
        guard case .value(let value) = answer else {
            throw JetStream.refusal(JetStream.Code.streamMissing)
        }
        guard let state = value["state"], case .integer(let last)? = state["last_seq"],
            case .integer(let bytes)? = state["bytes"],
            case .integer(let replicas)? = value["config"]?["num_replicas"]
        else { throw JetStream.unclear }
        var subjects: [String] = []
        if case .object(let members)? = state["subjects"] {
            subjects = members.map(\.name).sorted()
        }
        var current = 1
        if case .array(let peers)? = value["cluster"]?["replicas"] {
            current += peers.count { $0["current"] == .bool(true) && $0["offline"] != .bool(true) }
        }
        return State(
            last: last, byteCount: bytes, subjects: subjects, replicas: Int(replicas),
            current: min(current, Int(replicas)))
    }
}
