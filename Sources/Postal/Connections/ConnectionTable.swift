internal import Glibc
internal import Threads

/// What each connection is at, by its socket's number, and since when: what takes too long is closed.
///
/// The library's own time limit begins anew with every byte, so that a byte a minute would hold a
/// connection for ever.
final class ConnectionTable: Sendable {
    /// What a connection is at.
    enum Phase: UInt8 {
        case none
        /// Nothing was read yet, or not all fields.
        case head
        /// The body comes.
        case body
        /// Its request is worked on, or its answer goes out.
        case answering
        /// It may send another request.
        case resting
        /// It is a stream, which has rules of its own.
        case stream
    }

    /// How long each phase may take.
    struct Limits: Sendable {
        var headMilliseconds: Int64 = 10_000
        var bodyMilliseconds: Int64 = 30_000
        var restMilliseconds: Int64 = 30_000
        var answerMilliseconds: Int64 = 60_000
        /// Most connections without a whole request; beyond, the oldest is closed. Whoever opens
        /// thousands and sends nothing closes his own.
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

    /// How many connections there are.
    var count: Int { state.look { $0.count } }

    /// Takes a new connection.
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

    /// Forgets a connection before its socket is closed and its number somebody else's.
    func end(_ socket: Int32) {
        guard let place = Self.place(socket) else { return }
        state.look { state in
            guard place < state.phases.count, state.phases[place] != .none else { return }
            state.phases[place] = .none
            state.count -= 1
        }
    }

    /// Ends a connection from outside, where it still is one of that phase.
    func shut(_ socket: Int32, in phase: Phase) {
        guard let place = Self.place(socket) else { return }
        state.look { state in
            // Under the lock, so that the number is not somebody else's meanwhile.
            guard place < state.phases.count, state.phases[place] == phase else { return }
            _ = Glibc.shutdown(socket, Int32(SHUT_RDWR))
        }
    }

    /// Ends what takes too long, and the oldest unfinished of too many.
    ///
    /// - Returns: How many were ended.
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
        // No system lets a process have more.
        (0..<4_194_304).contains(socket) ? Int(socket) : nil
    }
}
