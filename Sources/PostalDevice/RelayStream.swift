internal import Glibc
package import HTTPClient
package import PostalProtocol
internal import Sealing
internal import Threads
internal import VercelAPI

/// A relay's stream of events, read by a thread of its own, so that nobody has to wait for the
/// relay.
///
/// Reconnects with growing pauses, and acknowledges only what is stored here. Buffers a bounded
/// number of messages: while nobody takes them, the thread stops reading.
@safe
package final class RelayStream {
    /// The state of the connection.
    package enum Status: Equatable, Sendable {
        /// Nothing was received yet.
        case connecting
        /// Messages or keep-alives arrive.
        case up
        /// Disconnected for this reason, and retrying.
        case down(String)
        /// The device was removed; the stream does not reconnect.
        case refused
    }

    /// What only the thread uses once it runs.
    private struct Parts {
        let client: RelayClient
        /// A second connection to the same relay, for use while the stream is open.
        let acknowledger: RelayClient
        let room: any Sleeper
        let random: () -> Double
    }

    private struct Shared {
        var status = Status.connecting
        var messages: [RelayMessage] = []
        var kept: Int64
        var isStopped = false
    }

    /// The maximum number of buffered messages.
    private static let messageLimit = 64
    /// A connection that is silent for longer counts as dead.
    private static let longestSilence = Duration.seconds(60)
    /// A connection that lasted this long worked: the pauses start over after it.
    private static let workingConnection = Duration.seconds(60)
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(300)
    private static let acknowledgementPause = Duration.seconds(2)

    private let parts: Parts
    private let shared: Monitor<Shared>
    private var thread: pthread_t?

    /// - Parameters:
    ///   - client: Used only by the thread after ``start()``, like the other parts.
    ///   - acknowledger: A client with a transport of its own.
    ///   - number: The last stored event.
    ///   - random: Returns a number from 0 to below 1, to spread reconnects of many devices.
    package init(
        _ client: RelayClient, acknowledger: RelayClient, room: any Sleeper,
        after number: Int64,
        random: @escaping () -> Double = VercelClient.randomFraction
    ) {
        parts = Parts(client: client, acknowledger: acknowledger, room: room, random: random)
        shared = Monitor(Shared(kept: number))
    }

    deinit { stop() }

    /// Starts the thread.
    ///
    /// - Returns: False if no thread can be created.
    package func start() -> Bool {
        guard thread == nil else { return true }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                // It is joined before this object goes.
                unsafe Unmanaged<RelayStream>.fromOpaque(context).takeUnretainedValue().run()
                return nil
            }, context)
        guard status == 0 else { return false }
        self.thread = thread
        return true
    }

    /// Stops the thread and waits until it has ended.
    package func stop() {
        shared.look { $0.isStopped = true }
        if let thread { pthread_join(thread, nil) }
        thread = nil
    }

    /// Takes the buffered messages, oldest first.
    package func take() -> [RelayMessage] {
        shared.look { shared in
            defer { shared.messages = [] }
            return shared.messages
        }
    }

    package var hasMessages: Bool { shared.look { !$0.messages.isEmpty } }

    package var status: Status { shared.look { $0.status } }

    /// Marks all events up to a number as stored, to be acknowledged soon.
    package func keep(_ number: Int64) {
        shared.look { $0.kept = max($0.kept, number) }
    }

    // MARK: The thread

    private var isStopped: Bool { shared.look { $0.isStopped } }

    private func run() {
        var failures = 0
        while !isStopped {
            let begun = parts.room.elapsed
            let kept = shared.look { $0.kept }
            var connection = Connection(now: begun, told: kept)
            var failure: RelayError?
            do throws(RelayError) {
                try parts.client.follow(after: kept) { bytes in
                    read((0..<bytes.byteCount).map { bytes.byte(at: $0) }, &connection)
                }
            } catch {
                failure = error
            }
            if isStopped { return }
            if connection.isRemoved || failure?.code == .deviceRefused {
                return shared.look { $0.status = .refused }
            }
            let now = parts.room.elapsed
            failures =
                now - begun >= Self.workingConnection && connection.wasHeard ? 0 : failures + 1
            let reason = failure?.reason ?? connection.complaint ?? "the relay ended the stream"
            shared.look { $0.status = .down(reason) }
            wait(max(pause(after: failures), failure?.retryAfter ?? .zero))
        }
    }

    /// The state of one connection.
    private struct Connection {
        var parser = EventStreamParser()
        var heardAt: Duration
        var wasHeard = false
        var isRemoved = false
        var complaint: String?
        var acknowledgedNumber: Int64
        var toldAt: Duration?

        /// - Parameter number: The last event that the stream's request acknowledged.
        init(now: Duration, told number: Int64) { (heardAt, acknowledgedNumber) = (now, number) }
    }

    /// - Returns: False to end the connection.
    private func read(_ bytes: [UInt8], _ connection: inout Connection) -> Bool {
        let signs = connection.parser.signCount
        var messages: [RelayMessage] = []
        connection.parser.take(bytes) { event in
            if let message = RelayMessage(event) { messages.append(message) }
        }
        let now = parts.room.elapsed
        if connection.parser.signCount != signs {
            (connection.heardAt, connection.wasHeard) = (now, true)
            shared.look { shared in
                if shared.status != .up { shared.status = .up }
            }
        } else if now - connection.heardAt > Self.longestSilence {
            // Bytes alone, without a keep-alive or event, are not a relay.
            connection.complaint = "the relay is sending neither events nor keep-alives"
            return false
        }
        for message in messages {
            guard hand(over: message) else { return false }
            if message == .removed {
                connection.isRemoved = true
                return false
            }
        }
        return tell(&connection, now)
    }

    /// Waits for space in the buffer; the relay is not read meanwhile.
    private func hand(over message: RelayMessage) -> Bool {
        while true {
            let (isTaken, isStopped) = shared.look { shared in
                let hasRoom = shared.messages.count < Self.messageLimit
                if hasRoom { shared.messages.append(message) }
                return (hasRoom, shared.isStopped)
            }
            if isTaken || isStopped { return !isStopped }
            guard rest(.milliseconds(50)) else { return false }
        }
    }

    /// Acknowledges stored events. A failure does not end the connection: the next attempt, at the
    /// latest the next stream request, acknowledges them.
    private func tell(_ connection: inout Connection, _ now: Duration) -> Bool {
        let (kept, isStopped) = shared.look { ($0.kept, $0.isStopped) }
        if isStopped { return false }
        guard connection.wasHeard, kept > connection.acknowledgedNumber,
            connection.toldAt.map({ now - $0 >= Self.acknowledgementPause }) ?? true
        else { return true }
        connection.toldAt = now
        do throws(RelayError) {
            try parts.acknowledger.acknowledge(kept)
            connection.acknowledgedNumber = kept
        } catch {
            if error.code == .deviceRefused {
                connection.isRemoved = true
                return false
            }
            // Not on every read: the relay has other problems.
            connection.toldAt = now + Self.longestSilence
        }
        return true
    }

    private func pause(after failures: Int) -> Duration {
        let doubled = Self.firstPause * (1 << min(max(failures - 1, 0), 9))
        return min(doubled, Self.longestPause) * (0.75 + parts.random() / 2)
    }

    private func wait(_ duration: Duration) {
        let end = parts.room.elapsed + duration
        while !isStopped, parts.room.elapsed < end {
            guard rest(.milliseconds(100)) else { return }
        }
    }

    /// - Returns: False if the program is about to end.
    private func rest(_ duration: Duration) -> Bool {
        if parts.room.wait(duration) { return true }
        shared.look { $0.isStopped = true }
        return false
    }
}
