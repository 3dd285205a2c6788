internal import Sealing

/// Cuts a stream of bytes into the lines of a log.
///
/// Logs may hold what programs printed by mistake, so the pieces stay in guarded memory.
final class EventLines {
    /// The longest line that is kept, in bytes; longer ones are passed over.
    static let maximumLineByteCount = 1 << 20

    private let pending: GuardedBytes
    private var isPassingOver = false

    init() throws(VercelAPIError) {
        do throws(SealingError) {
            pending = try GuardedBytes()
        } catch {
            throw VercelAPIError(.outOfMemory, reason: "no guarded memory left")
        }
    }

    /// Takes the next piece and hands over each line that it completes, without its end.
    ///
    /// - Returns: False if `onLine` did, or memory ran out.
    func take(_ piece: RawSpan, onLine: (RawSpan) -> Bool) -> Bool {
        var start = 0
        for offset in 0..<piece.byteCount where piece.byte(at: offset) == 0x0A {
            guard append(piece.extracting(start..<offset)) else { return false }
            start = offset + 1
            guard finish(onLine: onLine) else { return false }
        }
        return append(piece.extracting(start..<piece.byteCount))
    }

    /// Hands over what came behind the last line end.
    func finish(onLine: (RawSpan) -> Bool) -> Bool {
        defer {
            pending.removeAll()
            isPassingOver = false
        }
        guard pending.count > 0, !isPassingOver else { return true }
        return pending.withBytes(onLine)
    }

    private func append(_ bytes: RawSpan) -> Bool {
        guard !isPassingOver, bytes.byteCount <= Self.maximumLineByteCount - pending.count else {
            isPassingOver = true
            pending.removeAll()
            return true
        }
        do throws(SealingError) {
            try pending.append(bytes)
            return true
        } catch {
            return false
        }
    }
}
