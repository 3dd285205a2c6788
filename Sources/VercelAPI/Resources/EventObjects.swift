internal import Sealing

/// Cuts the bytes of a log into its JSON objects: one a line, or the elements of one array, however
/// the pieces are cut.
///
/// A broken line costs itself and no other: a line end inside of a text is none of JSON, and outside
/// of an array it ends the object too. Logs may hold what programs printed by mistake, so what waits
/// for its end stays in guarded memory.
final class EventObjects {
    /// The longest object that is kept, in bytes.
    static let maximumByteCount = 1 << 20

    /// What the next byte belongs to.
    private enum Place {
        case between, inObject, inText, afterBackslash
        /// Something that is no object, up to the end of its line.
        case inRest
    }

    private let pending: GuardedBytes
    private var place = Place.between
    private var depth = 0
    /// Whether the whole is one array; nil before its first byte.
    private var isArray: Bool?
    private var isTooLong = false
    /// Whether the array that the whole is has ended.
    private var isArrayEnded = false
    /// Objects that were too long, or broken off by the end of a line.
    private(set) var lostCount = 0
    /// Whether there was something that is no JSON at all, such as a page.
    private(set) var hasForeignText = false
    /// Whether there was an object.
    private(set) var hasObjects = false

    init() throws(VercelAPIError) {
        do throws(SealingError) {
            pending = try GuardedBytes()
        } catch {
            throw VercelAPIError(.outOfMemory, reason: "no guarded memory left")
        }
    }

    /// Takes the next piece and hands over each object that it completes.
    ///
    /// - Returns: False if `onObject` did.
    func take(_ piece: RawSpan, onObject: (RawSpan) -> Bool) -> Bool {
        // Where the part of an object begins that this piece holds.
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
                        let goesOn = end(piece.extracting(start..<(offset + 1)), onObject)
                        guard goesOn else { return false }
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

    /// Whether something has begun and not come to its end: then the rest is missing, however properly
    /// the connection was closed.
    var isCutOff: Bool {
        switch place {
        case .inObject, .inText, .afterBackslash: true
        case .between, .inRest: isArray == true && !isArrayEnded
        }
    }

    private func beginRest() {
        hasForeignText = true
        // Elements of an array may stand on one line with others.
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
