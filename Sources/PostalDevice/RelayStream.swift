internal import Glibc
package import PostalProtocol
internal import Sealing
internal import Threads
package import VercelAPI

/// A relay's stream of events, read by a thread of its own: whoever shows or tells something takes what
/// came when it has the time, and is never made to wait for the relay.
///
/// Connects again by itself, with growing pauses; tells the relay what is kept here, and no more than
/// that. Holds a bounded number of messages: while nobody takes them, the relay is not read.
@safe
package final class RelayStream {
    /// How it stands with the relay.
    package enum Status: Equatable, Sendable {
        /// Nothing came so far.
        case connecting
        /// The relay is heard.
        case up
        /// It is not, for this reason; it is tried again.
        case down(String)
        /// The device is none any more, and nothing is tried.
        case refused
    }

    /// What the thread works with, and nobody else from then on.
    private struct Parts {
        let client: RelayClient
        /// Another way to the same relay, while the stream is open.
        let acknowledger: RelayClient
        let room: any WaitingRoom
        let random: () -> Double
    }

    private struct Shared {
        var status = Status.connecting
        var messages: [RelayMessage] = []
        /// When the relay was heard last.
        var heardAt: Duration?
        var kept: Int64
        var isStopped = false
    }

    /// Most messages that wait to be taken.
    private static let messageLimit = 64
    /// Who says nothing for so long is gone.
    private static let longestSilence = Duration.seconds(60)
    /// A connection that lasted so long is one that works: pauses begin anew after it.
    private static let soundConnection = Duration.seconds(60)
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(300)
    private static let acknowledgementPause = Duration.seconds(2)

    private let parts: Parts
    private let shared: Monitor<Shared>
    private var thread: pthread_t?

    /// - Parameters:
    ///   - client: Used by the thread alone from ``start()`` on, and so are the other parts.
    ///   - acknowledger: With another transport.
    ///   - number: Up to which everything is kept here.
    ///   - random: From 0 to below 1: not everybody comes back at the same moment.
    package init(
        _ client: RelayClient, acknowledger: RelayClient, room: any WaitingRoom,
        after number: Int64,
        random: @escaping () -> Double = VercelClient.randomFraction
    ) {
        parts = Parts(client: client, acknowledger: acknowledger, room: room, random: random)
        shared = Monitor(Shared(kept: number))
    }

    deinit { stop() }

    /// Begins to read.
    ///
    /// - Returns: False where no thread can be had.
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

    /// Ends reading, and waits until it has ended.
    package func stop() {
        shared.look { $0.isStopped = true }
        if let thread { pthread_join(thread, nil) }
        thread = nil
    }

    /// What came since the last time, oldest first.
    package func take() -> [RelayMessage] {
        shared.look { shared in
            defer { shared.messages = [] }
            return shared.messages
        }
    }

    /// Whether something waits to be taken.
    package var hasMessages: Bool { shared.look { !$0.messages.isEmpty } }

    /// How it stands with the relay.
    package var status: Status { shared.look { $0.status } }

    /// Notes that everything up to a number is kept here; the relay is told soon.
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
            failures = now - begun >= Self.soundConnection && connection.wasHeard ? 0 : failures + 1
            let reason = failure?.reason ?? connection.complaint ?? "the relay ended the stream"
            shared.look { $0.status = .down(reason) }
            wait(max(pause(after: failures), failure?.retryAfter ?? .zero))
        }
    }

    /// What is known of one connection.
    private struct Connection {
        var parser = EventStreamParser()
        var heardAt: Duration
        var wasHeard = false
        var isRemoved = false
        var complaint: String?
        var toldNumber: Int64
        var toldAt: Duration?

        /// - Parameter number: The request for the stream tells it.
        init(now: Duration, told number: Int64) { (heardAt, toldNumber) = (now, number) }
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
            // Bytes alone are no relay.
            connection.complaint = "the relay says nothing that a relay says"
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

    /// Waits until there is room for a message: the relay is not read meanwhile.
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

    /// Tells the relay what is kept here. A failure is no reason to end: it is told again, at the latest
    /// when the stream is opened anew.
    private func tell(_ connection: inout Connection, _ now: Duration) -> Bool {
        let (kept, isStopped) = shared.look { ($0.kept, $0.isStopped) }
        if isStopped { return false }
        guard connection.wasHeard, kept > connection.toldNumber,
            connection.toldAt.map({ now - $0 >= Self.acknowledgementPause }) ?? true
        else { return true }
        connection.toldAt = now
        do throws(RelayError) {
            try parts.acknowledger.acknowledge(kept)
            connection.toldNumber = kept
        } catch {
            if error.code == .deviceRefused {
                connection.isRemoved = true
                return false
            }
            // Not with every look: the relay has other troubles.
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

    /// - Returns: False where the program is about to end, and this with it.
    private func rest(_ duration: Duration) -> Bool {
        if parts.room.wait(duration) { return true }
        shared.look { $0.isStopped = true }
        return false
    }
}
