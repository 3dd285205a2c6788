internal import Threads

/// An open stream of one device: a cursor, and the part being sent.
///
/// There can be ten thousand streams, so each has only one small part in memory; newer events stay
/// in the log.
final class EventStream: Sendable {
    /// What the connection does next.
    enum FillResult: Equatable {
        /// This many bytes are in its buffer.
        case bytes(Int)
        /// Suspend it; it will be resumed.
        case wait
        /// The stream has ended.
        case end
    }

    /// What the caller of a change must do for the stream.
    enum FollowUp: Equatable {
        case nothing
        /// Resume its connection.
        case resume
        /// Read the log for it.
        case read
    }

    private enum Phase {
        /// Nothing to send; the connection is suspended.
        case idle
        /// A read of the log is queued or running; the connection is suspended.
        case reading
        /// The connection sends what is pending.
        case sending
    }

    private struct State {
        var phase = Phase.sending
        /// Whether the log may have unread events.
        var isBehind = true
        /// Whether the stream ends after what is pending.
        var isEnding = false
        /// Whether the connection is closed.
        var isGone = false
        var cursor: Int64
        var pending: [UInt8] = EventFrame.greeting
        var offset = 0
        /// When news arrived, by the steady clock; nil if the device has everything.
        var behindSince: Int64?
        /// When bytes were last given to the connection.
        var sentAt: Int64
        /// When the current part was given to the connection.
        var busySince: Int64
    }

    let device: Device
    let connection: ConnectionHandle
    private let state: Monitor<State>

    /// - Parameters:
    ///   - after: The last number that the device has.
    ///   - now: The steady clock.
    init(_ device: Device, after: Int64, _ connection: ConnectionHandle, now: Int64) {
        self.device = device
        self.connection = connection
        state = Monitor(State(cursor: after, sentAt: now, busySince: now))
    }

    /// Fills the connection's buffer. Suspends the connection if there is nothing to send, before
    /// any other thread can change the stream.
    ///
    /// - Returns: What to do, whether to read the log, and how long the device waited for what is
    ///   now sent completely.
    func fill(
        _ buffer: UnsafeMutableRawBufferPointer, now: Int64
    ) -> (supply: FillResult, duty: FollowUp, waited: Int64?) {
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

    /// Records that the log may have something new.
    func wake(now: Int64) -> FollowUp {
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

    /// Returns the next request to the log; nil if the stream is ending.
    func request(byteLimit: Int) -> ReadRequest? {
        state.look { state in
            guard !state.isEnding, !state.isGone else { return nil }
            return ReadRequest(device: device, after: state.cursor, byteLimit: byteLimit)
        }
    }

    /// Takes the result of a read; nil if it failed or the stream ends.
    func take(_ events: DeviceEvents?) -> FollowUp {
        state.look { state in
            guard !state.isGone, state.phase == .reading else { return .nothing }
            if state.isEnding {
                state.phase = .sending
                return .resume
            }
            guard let events else {
                // Retried with the next keep-alive or event.
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

    /// Sends a comment line if nothing was sent since `time`.
    func keepAlive(since time: Int64, now: Int64) -> FollowUp {
        state.look { state in
            guard state.phase == .idle, !state.isGone, state.sentAt <= time else { return .nothing }
            state.busySince = now
            (state.pending, state.offset, state.phase) = (EventFrame.keepAlive, 0, .sending)
            return .resume
        }
    }

    /// Ends the stream with some last lines after what is being sent.
    func end(with lines: [UInt8]) -> FollowUp {
        state.look { state in
            guard !state.isEnding, !state.isGone else { return .nothing }
            state.isEnding = true
            state.pending += lines
            guard state.phase == .idle else { return .nothing }
            state.phase = .sending
            return .resume
        }
    }

    /// Records that the connection is closed; it must not be used again.
    func leave() {
        state.look { state in
            state.isGone = true
            (state.pending, state.offset) = ([], 0)
        }
    }

    /// Resumes the connection if it is still open.
    func resume() {
        state.look { state in
            if !state.isGone { connection.resume() }
        }
    }

    /// Returns whether the device has not received its part since `time`.
    func isStuck(since time: Int64) -> Bool {
        state.look { state in
            state.phase == .sending && !state.isGone && state.busySince <= time
        }
    }
}
