internal import Threads

/// A device's number in the store, and its public key.
struct SealedRecipient: Sendable {
    let ordinal: Int64
    let publicKey: [UInt8]
}

/// Seals one event to many devices, on several threads if there are many.
///
/// A copy takes about 0.1 ms, nearly all of it for its ephemeral key.
enum Sealer {
    /// Below this, threads cost more than they save.
    private static let parallelCount = 64
    private static let threadCount = 4

    /// Returns the copies in the order of the recipients, without those whose key is invalid.
    static func copies(
        of event: AcceptedEvent, for recipients: [SealedRecipient]
    ) -> [(device: SealedRecipient, sealed: [UInt8])] {
        guard recipients.count >= parallelCount else {
            return copies(of: event, for: recipients[...])
        }
        let part = (recipients.count + threadCount - 1) / threadCount
        let parts = Monitor(
            [[(device: SealedRecipient, sealed: [UInt8])]](repeating: [], count: threadCount))
        let threads = (0..<threadCount).map { number in
            let work: @Sendable () -> Void = {
                let range = (number * part..<(number + 1) * part).clamped(to: recipients.indices)
                let sealed = copies(of: event, for: recipients[range])
                parts.look { $0[number] = sealed }
            }
            // Without a thread from the system, this one does it.
            let thread = WorkThread(work)
            if thread == nil { work() }
            return thread
        }
        for thread in threads { thread?.join() }
        return parts.look { $0.flatMap { $0 } }
    }

    private static func copies(
        of event: AcceptedEvent, for recipients: ArraySlice<SealedRecipient>
    ) -> [(device: SealedRecipient, sealed: [UInt8])] {
        recipients.compactMap { recipient in
            event.sealed(toKey: recipient.publicKey).map { (recipient, $0) }
        }
    }
}
