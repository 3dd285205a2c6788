internal import Glibc
internal import Threads

/// The phase and start time of each connection, by its socket's number; slow connections are
/// closed.
///
/// The library's own timeout restarts with every byte, so a client could hold a connection forever
/// with a byte a minute.
final class ConnectionTable: Sendable {
    enum Phase: UInt8 {
        case none
        /// The head is not complete.
        case head
        /// The body is being received.
        case body
        /// The request is being handled or the response sent.
        case answering
        /// Idle between requests.
        case resting
        /// A stream; it has its own rules.
        case stream
    }

    /// Time limits of the phases.
    struct Limits: Sendable {
        var headMilliseconds: Int64 = 10_000
        var bodyMilliseconds: Int64 = 30_000
        var restMilliseconds: Int64 = 30_000
        var answerMilliseconds: Int64 = 60_000
        /// Most connections without a complete request. Beyond it the oldest is closed, so a client
        /// that opens thousands and sends nothing closes its own.
        var unfinished = 1_024
    }

    private struct State {
        var phases: [Phase] = []
        var since: [Int64] = []
        var count = 0
    }

    private let limits: Limits
    private let state = Monitor(State())

    init(_ limits: Limits) { self.limits = limits }

    /// Number of connections.
    var count: Int { state.look { $0.count } }

    func begin(_ socket: Int32, now: Int64) {
        guard let place = Self.place(socket) else { return }
        state.look { state in
            if place >= state.phases.count {
                let more = place + 256 - state.phases.count
                state.phases += [Phase](repeating: .none, count: more)
                state.since += [Int64](repeating: 0, count: more)
            }
            if state.phases[place] == .none { state.count += 1 }
            state.phases[place] = .head
            state.since[place] = now
        }
    }

    func set(_ socket: Int32, _ phase: Phase, now: Int64) {
        guard let place = Self.place(socket) else { return }
        state.look { state in
            guard place < state.phases.count, state.phases[place] != .none else { return }
            state.phases[place] = phase
            state.since[place] = now
        }
    }

    /// Removes a connection. Call before its socket is closed and the number reused.
    func end(_ socket: Int32) {
        guard let place = Self.place(socket) else { return }
        state.look { state in
            guard place < state.phases.count, state.phases[place] != .none else { return }
            state.phases[place] = .none
            state.count -= 1
        }
    }

    /// Shuts a connection down if it is still in that phase.
    func shut(_ socket: Int32, in phase: Phase) {
        guard let place = Self.place(socket) else { return }
        state.look { state in
            // Under the lock, so that the number cannot be reused meanwhile.
            guard place < state.phases.count, state.phases[place] == phase else { return }
            _ = Glibc.shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    /// Closes slow connections, and the oldest of too many incomplete ones. Returns how many were
    /// closed.
    func sweep(now: Int64) -> Int {
        state.look { state in
            var (ended, unfinished) = (0, [(since: Int64, place: Int)]())
            for place in state.phases.indices {
                let age = now - state.since[place]
                let isOver: Bool
                switch state.phases[place] {
                case .none, .stream: continue
                case .head: isOver = age > limits.headMilliseconds
                case .body: isOver = age > limits.bodyMilliseconds
                case .resting: isOver = age > limits.restMilliseconds
                case .answering: isOver = age > limits.answerMilliseconds
                }
                if isOver {
                    _ = Glibc.shutdown(Int32(place), Int32(SHUT_RDWR))
                    ended += 1
                } else if [.head, .body].contains(state.phases[place]) {
                    unfinished.append((state.since[place], place))
                }
            }
            guard unfinished.count > limits.unfinished else { return ended }
            unfinished.sort { $0.since < $1.since }
            for entry in unfinished.prefix(unfinished.count - limits.unfinished) {
                _ = Glibc.shutdown(Int32(entry.place), Int32(SHUT_RDWR))
                ended += 1
            }
            return ended
        }
    }

    private static func place(_ socket: Int32) -> Int? {
        // No system allows more descriptors.
        (0..<4_194_304).contains(socket) ? Int(socket) : nil
    }
}
