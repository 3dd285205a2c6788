/// A message of an account's subject: an event or a mark. The entries form a chain: each records
/// what came before it, so that any relay can count the events between two entries, even after
/// those events are deleted.
///
/// Each message names its predecessor, and one with a wrong predecessor does not count
/// (``PlacedEntry``). A joining device writes a mark, so that every event is either before it or
/// was sealed by a relay that knew the device.
struct LogEntry: Equatable, Sendable {
    /// Where the copies are.
    enum Content: Equatable, Sendable {
        /// None: a mark for a new device, or after a long silence of the account.
        case mark
        /// In the entry.
        case copies(CopyTable)
        /// In separate messages, in the order of names: their numbers, and the first name in each.
        case parts([Part])
    }

    struct Part: Equatable, Sendable {
        var number: Int64
        var first: RecipientName
    }

    private static let format: UInt8 = 1
    /// More than any stream reaches, so that sums of a few do not overflow.
    static let largestNumber: Int64 = 1 << 53

    /// Where the account's numbers began: `ordinal` counts events after it.
    var epoch: Int64
    /// Number of events of the account in this epoch, including this one.
    var ordinal: Int64
    /// The number of the subject's previous message; 0 for none.
    var previous: Int64
    /// The number of the previous event; the epoch for none.
    var lastEvent: Int64
    /// The message of the register that a relay must have read before it seals the next event.
    var register: Int64
    /// By the clock of the writing relay, in milliseconds since 1970.
    var time: Int64
    var content: Content

    var isEvent: Bool { content != .mark }
    /// Events of the account before this entry.
    var ordinalBefore: Int64 { isEvent ? ordinal - 1 : ordinal }

    /// The encoded entry.
    var bytes: [UInt8] {
        var bytes: [UInt8] = [Self.format]
        func add(_ number: Int64) { bytes.append(number: number) }
        switch content {
        case .mark: bytes.append(UInt8(0))
        case .copies: bytes.append(UInt8(1))
        case .parts: bytes.append(UInt8(2))
        }
        for number in [epoch, ordinal, previous, lastEvent, register, time] { add(number) }
        switch content {
        case .mark: break
        case .copies(let table): bytes += table.bytes
        case .parts(let parts):
            add(Int64(parts.count))
            for part in parts {
                add(part.number)
                bytes += part.first.bytes
            }
        }
        return bytes
    }
}

extension LogEntry {
    /// Parses a message; nil if it is malformed.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 50, bytes[0] == Self.format else { return nil }
        var numbers: [Int64] = []
        for place in 0..<6 {
            guard let number = bytes.number(at: 2 + place * 8), number <= Self.largestNumber else {
                return nil
            }
            numbers.append(number)
        }
        (epoch, ordinal, previous) = (numbers[0], numbers[1], numbers[2])
        (lastEvent, register, time) = (numbers[3], numbers[4], numbers[5])
        switch bytes[1] {
        case 0:
            guard bytes.count == 50 else { return nil }
            content = .mark
        case 1:
            guard ordinal > 0, let table = CopyTable(bytes, from: 50) else { return nil }
            content = .copies(table)
        case 2:
            let size = 8 + RecipientName.byteCount
            guard ordinal > 0, let count = bytes.number(at: 50), count > 0, count <= 65_536,
                bytes.count == 58 + Int(count) * size
            else { return nil }
            var parts: [Part] = []
            for place in 0..<Int(count) {
                guard let number = bytes.number(at: 58 + place * size), number > 0,
                    number <= Self.largestNumber,
                    let first = RecipientName(bytes, at: 66 + place * size)
                else { return nil }
                parts.append(Part(number: number, first: first))
            }
            content = .parts(parts)
        default: return nil
        }
    }
}

/// The state of an account's subject after its last message.
struct LogTip: Equatable, Sendable {
    /// The last message's number, even if it does not count; 0 without messages.
    var sequence: Int64
    var epoch: Int64
    var ordinal: Int64
    var lastEvent: Int64
    var register: Int64
    var time: Int64

    init(_ entry: LogEntry, sequence: Int64) {
        self.sequence = sequence
        (epoch, ordinal, register) = (entry.epoch, entry.ordinal, entry.register)
        time = entry.time
        lastEvent = entry.isEvent ? sequence : entry.lastEvent
    }

    /// The state after `entry`.
    init(before entry: LogEntry, sequence: Int64) {
        self.sequence = sequence
        (epoch, ordinal, register) = (entry.epoch, entry.ordinalBefore, entry.register)
        (lastEvent, time) = (entry.lastEvent, entry.time)
    }

    /// The state of an account without messages, in a stream whose last number is `newest`.
    init(beginningAt newest: Int64) {
        (sequence, epoch, ordinal, lastEvent, register, time) = (0, newest, 0, newest, 0, 0)
    }

    /// Returns the next entry.
    func next(
        _ content: LogEntry.Content, at time: Int64, register newer: Int64 = 0
    ) -> LogEntry {
        LogEntry(
            epoch: epoch, ordinal: content == .mark ? ordinal : ordinal + 1, previous: sequence,
            lastEvent: lastEvent, register: max(register, newer), time: max(time, 0),
            content: content)
    }
}

extension [UInt8] {
    /// Reads eight bytes, big-endian; nil past the end and for a negative number.
    func number(at place: Int) -> Int64? {
        guard place >= 0, place + 8 <= count else { return nil }
        return Int64(exactly: word(at: place))
    }

    /// Reads eight bytes, big-endian, which must be there.
    func word(at place: Int) -> UInt64 {
        self[place..<(place + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func append(number: Int64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
        }
    }
}
