import EnvSchema
import Testing

/// Dates, compared with the expression that the other tool uses where node can run it.
@Suite struct DateFormTests {
    private static let expression =
        #"^(?:[+-]?\d{4}(?!\d{2}\b))(?:(-?)(?:(?:0[1-9]|1[0-2])(?:\1(?:[12]\d|0[1-9]|3[01]))?|"#
        + #"W(?:[0-4]\d|5[0-2])(?:-?[1-7])?|(?:00[1-9]|0[1-9]\d|[12]\d{2}|3(?:[0-5]\d|6[1-6])))"#
        + #"(?:[T\s](?:(?:(?:[01]\d|2[0-3])(?:(:?)[0-5]\d)?|24:?00)(?:[.,]\d+(?!:))?)?"#
        + #"(?:\2[0-5]\d(?:[.,]\d+)?)?(?:[zZ]|(?:[+-])(?:[01]\d|2[0-3]):?(?:[0-5]\d)?)?)?)?$"#

    @Test func datesMatchAsTheExpressionDoes() throws {
        var random = SeededGenerator(seed: 20_261_124)
        let days = [
            "2024", "-2024", "202403", "2024-03", "2024-03-20", "20240320", "2024-0320",
            "2024-W12", "2024W123", "2024-W12-3", "2024-W53", "2024-W12-8", "2024-080", "2024366",
            "2024-366", "2024-367", "2024-000", "2024-00", "+202403", "2024-03-32", "20243",
        ]
        let marks = ["", "T", " ", "t", "\u{A0}", "  "]
        let times = [
            "", "10", "24", "24:00", "2400", "24:01", "10:30", "1030", "10:30:15", "103015",
            "10:3015", "1030:15", "10.5", "10,55:30", "10:30.55", "10:30.55:10", "10:30:15.123",
            "25", "10:60", "10:30:60", "1:30", "10.", "3", "30.5", "99", "2400.0", "101",
        ]
        let offsets = [
            "", "Z", "z", "+02", "+02:", "+0200", "-02:00", "+2", "+24:00", "ZZ", "+02:0",
        ]
        let texts = (0..<3000).map { _ in
            let parts = [days, marks, times, offsets].map { $0.randomElement(using: &random) ?? "" }
            return parts.joined()
        }
        guard let expected = try Node.matches([Node.Pair](texts.map { (Self.expression, "", $0) }))
        else { return }
        for (text, matches) in zip(texts, expected) {
            #expect(ValueType(.isoDate).fit(of: text) == .fits || matches != true, "\(text)")
            #expect(ValueType(.isoDate).fit(of: text) != .fits || matches == true, "\(text)")
        }
    }
}
