internal import HTTPClient
internal import Sealing

/// Splits the bytes of a log into its JSON objects: one per line, or the elements of one array,
/// wherever the pieces are cut.
///
/// A broken line loses only itself, because a line end is invalid in a JSON string, and outside of
/// an array it also ends the object. Logs may contain what programs printed by mistake, so
/// incomplete objects stay in guarded memory.
final class EventObjects {
    /// The largest object, in bytes.
    static let maximumByteCount = 1 << 20

    /// The parser's state.
    private enum Place {
        case between, inObject, inText, afterBackslash
        /// In something that is not an object, up to the end of its line.
        case inRest
    }

    private let pending: GuardedBytes
    private var place = Place.between
    private var depth = 0
    /// Whether the log is one array; nil before its first byte.
    private var isArray: Bool?
    private var isTooLong = false
    private var isArrayEnded = false
    /// The number of objects that were too long or cut off by a line end.
    private(set) var lostCount = 0
    /// Whether there was something other than JSON, such as an HTML page.
    private(set) var hasForeignText = false
    private(set) var hasObjects = false

    init() throws(VercelAPIError) {
        guard let pending = try? GuardedBytes() else {
            throw VercelAPIError(.outOfMemory, reason: "out of guarded memory")
        }
        self.pending = pending
    }

    /// Parses the next piece and calls `onObject` for each object that it completes.
    ///
    /// - Returns: False if `onObject` returned false.
    func take(_ piece: RawSpan, onObject: (RawSpan) -> Bool) -> Bool {
        // The start of the current object within this piece.
        var start = 0
        for offset in 0..<piece.byteCount {
            let byte = piece.byte(at: offset)
            switch place {
            case .inText:
                switch byte {
                case 0x22: place = .inObject
                case 0x5C: place = .afterBackslash
                case 0x0A: drop()
                default: break
                }
            case .afterBackslash: place = .inText
            case .inObject:
                switch byte {
                case 0x22: place = .inText
                case 0x7B, 0x5B: depth += 1
                case 0x7D, 0x5D:
                    depth -= 1
                    if depth == 0 {
                        let shouldContinue = end(piece.extracting(start..<(offset + 1)), onObject)
                        guard shouldContinue else { return false }
                    }
                case 0x0A: if isArray != true { drop() }
                default: break
                }
            case .inRest: if byte == 0x0A { place = .between }
            case .between:
                switch byte {
                case 0x7B:
                    (place, depth, start) = (.inObject, 1, offset)
                    if isArray == nil { isArray = false }
                case 0x5B where isArray == nil: isArray = true
                case 0x09, 0x0A, 0x0D, 0x20: break
                case 0x2C where isArray == true: break
                case 0x5D where isArray == true: isArrayEnded = true
                default: beginRest()
                }
            }
        }
        if place == .inObject || place == .inText || place == .afterBackslash {
            keep(piece.extracting(min(start, piece.byteCount)..<piece.byteCount))
        }
        return true
    }

    /// Whether an object or the array is incomplete, so that the rest is missing even if the
    /// connection was closed properly.
    var isCutOff: Bool {
        switch place {
        case .inObject, .inText, .afterBackslash: true
        case .between, .inRest: isArray == true && !isArrayEnded
        }
    }

    private func beginRest() {
        hasForeignText = true
        // Elements of an array may share a line.
        if isArray != true { place = .inRest }
        if isArray == nil { isArray = false }
    }

    private func end(_ part: RawSpan, _ onObject: (RawSpan) -> Bool) -> Bool {
        place = .between
        hasObjects = true
        if pending.count == 0, !isTooLong { return onObject(part) }
        keep(part)
        defer {
            pending.removeAll()
            isTooLong = false
        }
        guard !isTooLong else {
            lostCount += 1
            return true
        }
        return pending.withBytes(onObject)
    }

    private func drop() {
        place = .between
        lostCount += 1
        pending.removeAll()
        isTooLong = false
    }

    private func keep(_ bytes: RawSpan) {
        guard !isTooLong, bytes.byteCount <= Self.maximumByteCount - pending.count,
            (try? pending.append(bytes)) != nil
        else {
            isTooLong = true
            pending.removeAll()
            return
        }
    }
}
