internal import Threads

/// Whoever a copy is sealed to: a number of the store's, and the key.
struct SealedRecipient: Sendable {
    let ordinal: Int64
    let publicKey: [UInt8]
}

/// Seals one event to many devices, on several threads where there are many.
///
/// One copy takes about a tenth of a millisecond, nearly all of it for the key of this copy alone.
enum Sealer {
    /// Below so many, starting threads costs more than it saves.
    private static let parallelCount = 64
    private static let threadCount = 4

    /// Copies in the order of the recipients, of those whose key can be sealed to.
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
                let range =
                    min(
                        number * part, recipients.count)..<min(
                        (number + 1) * part, recipients.count)
                let sealed = copies(of: event, for: recipients[range])
                parts.look { $0[number] = sealed }
            }
            // Where the system gives no thread, this one does it.
            guard let thread = WorkThread(work) else {
                work()
                return WorkThread?.none
            }
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
