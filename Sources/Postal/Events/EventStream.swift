internal import Threads

/// One device's stream while its connection is open: a cursor, and what is being sent right now.
///
/// There are ten thousand of them, so it holds no events but those of one small part, and only until
/// they are sent: whatever comes meanwhile stays in the log.
final class EventStream: Sendable {
    /// What the connection is to do next.
    enum Supply: Equatable {
        /// So many bytes were put into its buffer.
        case bytes(Int)
        /// It is to be suspended: somebody resumes it.
        case wait
        /// There is nothing more.
        case end
    }

    /// What must be done for the stream by whoever changed it.
    enum Duty: Equatable {
        case nothing
        /// Its connection is to be resumed.
        case resume
        /// The log is to be read for it.
        case read
    }

    private enum Phase {
        /// Nothing is to be sent; the connection is suspended.
        case idle
        /// Somebody reads the log for it, or is about to; the connection is suspended.
        case reading
        /// The connection takes what is pending.
        case sending
    }

    private struct State {
        var phase = Phase.sending
        /// There may be something in the log that was not looked for yet.
        var isBehind = true
        /// The stream ends when what is pending was sent.
        var isEnding = false
        /// The connection is gone.
        var isGone = false
        var cursor: Int64
        var pending: [UInt8] = EventFrame.greeting
        var offset = 0
        /// When it was told that there is something, by the steady clock; nil when it had everything.
        var behindSince: Int64?
        /// When the last bytes were given to the connection.
        var sentAt: Int64
        /// Since when it has been given what it takes now.
        var busySince: Int64
    }

    let device: Device
    let connection: ConnectionHandle
    private let state: Monitor<State>

    /// - Parameters:
    ///   - after: The last number that the device had.
    ///   - now: The steady clock.
    init(_ device: Device, after: Int64, _ connection: ConnectionHandle, now: Int64) {
        self.device = device
        self.connection = connection
        state = Monitor(State(cursor: after, sentAt: now, busySince: now))
    }

    /// Fills the connection's buffer. Where there is nothing to give now the connection is suspended,
    /// before anybody else can change the stream.
    ///
    /// - Returns: What to do, whether the log is to be read, and how long the device has waited for
    ///   what it has completely now.
    func fill(
        _ buffer: UnsafeMutableRawBufferPointer, now: Int64
    ) -> (supply: Supply, duty: Duty, waited: Int64?) {
        state.look { state in
            if state.offset < state.pending.count {
                let count = min(buffer.count, state.pending.count - state.offset)
                unsafe buffer.copyBytes(from: state.pending[state.offset..<(state.offset + count)])
                state.offset += count
                state.sentAt = now
                guard state.offset == state.pending.count else {
                    return (.bytes(count), .nothing, nil)
                }
                (state.pending, state.offset) = ([], 0)
                state.busySince = now
                let waited = state.isBehind ? nil : state.behindSince.map { now - $0 }
                if !state.isBehind { state.behindSince = nil }
                return (.bytes(count), .nothing, waited)
            }
            if state.isEnding { return (.end, .nothing, nil) }
            connection.suspend()
            if state.isBehind {
                (state.phase, state.isBehind) = (.reading, false)
                return (.wait, .read, nil)
            }
            state.phase = .idle
            return (.wait, .nothing, nil)
        }
    }

    /// Says that there may be something new in the log.
    func wake(now: Int64) -> Duty {
        state.look { state in
            guard !state.isEnding, !state.isGone else { return .nothing }
            if state.behindSince == nil { state.behindSince = now }
            guard state.phase == .idle else {
                state.isBehind = true
                return .nothing
            }
            state.phase = .reading
            state.busySince = now
            return .read
        }
    }

    /// What to ask the log for; nil where nothing may be asked any more.
    func request(byteLimit: Int) -> ReadRequest? {
        state.look { state in
            guard !state.isEnding, !state.isGone else { return nil }
            return ReadRequest(device: device, after: state.cursor, byteLimit: byteLimit)
        }
    }

    /// Takes what the log gave; nil where it could not be read, or where the stream ends.
    func take(_ events: DeviceEvents?) -> Duty {
        state.look { state in
            guard !state.isGone, state.phase == .reading else { return .nothing }
            if state.isEnding {
                state.phase = .sending
                return .resume
            }
            guard let events else {
                // Tried again with the next keep-alive, or whatever comes before.
                state.isBehind = true
                state.phase = .idle
                return .nothing
            }
            state.cursor = max(state.cursor, events.through)
            let lines = EventFrame.lines(of: events)
            if lines.isEmpty {
                guard events.hasMore || state.isBehind else {
                    state.phase = .idle
                    state.behindSince = nil
                    return .nothing
                }
                state.isBehind = false
                return .read
            }
            if events.hasMore { state.isBehind = true }
            (state.pending, state.offset, state.phase) = (lines, 0, .sending)
            return .resume
        }
    }

    /// Sends a line of comment where nothing was sent since `time`.
    func keepAlive(since time: Int64, now: Int64) -> Duty {
        state.look { state in
            guard state.phase == .idle, !state.isGone, state.sentAt <= time else { return .nothing }
            state.busySince = now
            (state.pending, state.offset, state.phase) = (EventFrame.keepAlive, 0, .sending)
            return .resume
        }
    }

    /// Ends the stream behind what is being sent, with some last lines.
    func end(with lines: [UInt8]) -> Duty {
        state.look { state in
            guard !state.isEnding, !state.isGone else { return .nothing }
            state.isEnding = true
            state.pending += lines
            guard state.phase == .idle else { return .nothing }
            state.phase = .sending
            return .resume
        }
    }

    /// Says that the connection is gone, which must never be touched again.
    func leave() {
        state.look { state in
            state.isGone = true
            (state.pending, state.offset) = ([], 0)
        }
    }

    /// Resumes the connection, where there still is one.
    func resume() {
        state.look { state in
            if !state.isGone { connection.resume() }
        }
    }

    /// Whether the device has not taken its one part since `time`.
    func isStuck(since time: Int64) -> Bool {
        state.look { state in
            state.phase == .sending && !state.isGone && state.busySince <= time
        }
    }
}
