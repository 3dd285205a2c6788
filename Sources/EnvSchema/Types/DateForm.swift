/// Dates by ISO 8601, by the expression that the other tool uses: a year, a month, a date, a week
/// or an ordinal day, then perhaps a time and an offset. Only the form is checked.
enum DateForm {
    static func matches(_ text: ValueSlice) -> Bool {
        var rest = text
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
            rest = rest.dropFirst()
        }
        guard rest.count >= 4, rest.prefix(4).allSatisfy(\.isDigit) else { return false }
        rest = rest.dropFirst(4)
        if rest.isEmpty { return true }
        // `202403` could be a short date.
        if number(rest, 0...99) != nil, rest.dropFirst(2).first?.isNamePart != true {
            return false
        }
        let hasHyphen = rest.first == UInt8(ascii: "-")
        if hasHyphen { rest = rest.dropFirst() }
        return day(rest, hasHyphen: hasHyphen).contains { isTimeOrEnd($0) }
    }

    /// Returns what may follow the day: each way to read it leaves another rest.
    private static func day(_ text: ValueSlice, hasHyphen: Bool) -> [ValueSlice] {
        var rests: [ValueSlice] = []
        if number(text, 1...12) != nil {
            let month = text.dropFirst(2)
            rests.append(month)
            let day = hasHyphen ? dropping(UInt8(ascii: "-"), month) : month
            if let day, number(day, 1...31) != nil { rests.append(day.dropFirst(2)) }
        }
        if let week = dropping(UInt8(ascii: "W"), text), number(week, 0...52) != nil {
            let rest = week.dropFirst(2)
            rests.append(rest)
            let weekday = dropping(UInt8(ascii: "-"), rest) ?? rest
            if number(weekday, 1...7, digits: 1) != nil { rests.append(weekday.dropFirst()) }
        }
        if number(text, 1...366, digits: 3) != nil { rests.append(text.dropFirst(3)) }
        return rests
    }

    private static func isTimeOrEnd(_ text: ValueSlice) -> Bool {
        if text.isEmpty { return true }
        let blankLength = text.first == UInt8(ascii: "T") ? 1 : text.blankLength
        guard let blankLength else { return false }
        let time = text.dropFirst(blankLength)
        // A time may be left out, but not its seconds and offset, says the expression.
        if isSecondsAndOffset(time, colon: false) { return true }
        if number(time, 0...23) != nil {
            let rest = time.dropFirst(2)
            if isFractionAndRest(rest, colon: false) { return true }
            let minutes = dropping(UInt8(ascii: ":"), rest)
            if number(minutes ?? rest, 0...59) != nil,
                isFractionAndRest((minutes ?? rest).dropFirst(2), colon: minutes != nil)
            {
                return true
            }
        }
        guard number(time, 24...24) != nil else { return false }
        let rest = time.dropFirst(2)
        let zeros = dropping(UInt8(ascii: ":"), rest) ?? rest
        return number(zeros, 0...0) != nil && isFractionAndRest(zeros.dropFirst(2), colon: false)
    }

    private static func isFractionAndRest(_ text: ValueSlice, colon: Bool) -> Bool {
        if isSecondsAndOffset(text, colon: colon) { return true }
        guard let rest = droppingFraction(text), rest.first != UInt8(ascii: ":") else {
            return false
        }
        return isSecondsAndOffset(rest, colon: colon)
    }

    /// `colon` says what stands before the seconds: what stood before the minutes.
    private static func isSecondsAndOffset(_ text: ValueSlice, colon: Bool) -> Bool {
        if isOffset(text) { return true }
        let seconds = colon ? dropping(UInt8(ascii: ":"), text) : text
        guard let seconds, number(seconds, 0...59) != nil else { return false }
        let rest = seconds.dropFirst(2)
        return isOffset(rest) || droppingFraction(rest).map(isOffset) ?? false
    }

    private static func isOffset(_ text: ValueSlice) -> Bool {
        switch text.first {
        case nil: return true
        case UInt8(ascii: "z"), UInt8(ascii: "Z"): return text.count == 1
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard number(text.dropFirst(), 0...23) != nil else { return false }
            let rest = text.dropFirst(3)
            let minutes = dropping(UInt8(ascii: ":"), rest) ?? rest
            return minutes.isEmpty || number(minutes, 0...59) != nil && minutes.count == 2
        default: return false
        }
    }

    private static func droppingFraction(_ text: ValueSlice) -> ValueSlice? {
        guard text.first == UInt8(ascii: ".") || text.first == UInt8(ascii: ",") else { return nil }
        let digits = text.dropFirst().prefix { $0.isDigit }
        return digits.isEmpty ? nil : text.dropFirst(1 + digits.count)
    }

    private static func dropping(_ byte: UInt8, _ text: ValueSlice) -> ValueSlice? {
        text.first == byte ? text.dropFirst() : nil
    }

    private static func number(
        _ text: ValueSlice, _ range: ClosedRange<Int>, digits: Int = 2
    ) -> Int? {
        let number = text.prefix(digits)
        guard number.count == digits, number.allSatisfy(\.isDigit) else { return nil }
        let value = number.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return range.contains(value) ? value : nil
    }
}
