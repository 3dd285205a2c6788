import EnvSchema
import Testing

/// The rules of the types that the shared cases do not cover.
@Suite struct TypeRulesTests {
    typealias Rule = (type: ValueType, text: String, expected: String)

    private func check(_ rules: [Rule], _ location: SourceLocation = #_sourceLocation) {
        for (type, text, expected) in rules {
            let fit = type.fit(of: text)
            #expect(fit.word == expected, "\(type) \(text): \(fit)", sourceLocation: location)
        }
    }

    private func type(
        _ name: ValueType.Name, _ options: [String: OptionValue] = [:]
    ) -> ValueType {
        ValueType(name, options: options)
    }

    @Test func anEmptyValueIsNotSet() {
        for name in ValueType.Name.allCases {
            #expect(type(name).fit(of: "") == .fits)
        }
    }

    @Test func stringsConvertBeforeTheyAreChecked() {
        check([
            (
                type(.string, ["toLowerCase": .flag(true), "endsWith": .text("c")]), "ABC",
                "coerced"
            ),
            (type(.string, ["toLowerCase": .flag(true), "endsWith": .text("C")]), "ABC", "misfit"),
            (type(.string, ["toLowerCase": .flag(false), "endsWith": .text("C")]), "ABC", "fits"),
            (
                type(.string, ["toUpperCase": .flag(true), "isLength": .number("2")]), "ß",
                "coerced"
            ),
            (
                type(.string, ["toUpperCase": .flag(true), "matches": .text("^ÄÖ$")]), "äö",
                "coerced"
            ),
            (type(.string, ["toUpperCase": .flag(true)]), "12 ÄÖ", "fits"),
            (
                type(.string, ["toUpperCase": .flag(true), "toLowerCase": .flag(true)]), "aBc",
                "coerced"
            ),
            (type(.string, ["toUpperCase": .flag(true)]), "\u{390}", "coerced"),
            (type(.string, ["allowEmpty": .flag(false)]), "x", "fits"),
            (type(.string, ["isLength": .number("2")]), "🔑", "fits"),
            (type(.string, ["minLength": .text("3")]), "ab", "misfit"),
        ])
    }

    @Test func optionsWithoutUsableValueLeaveTheTypeUnchecked() {
        check([
            (type(.string, ["minLength": .text("long")]), "x", "unchecked"),
            (type(.number, ["min": .flag(true)]), "1", "unchecked"),
            (type(.number, ["min": .flag(true)]), "x", "misfit"),
            (type(.duration, ["min": .text("soon")]), "1s", "unchecked"),
            (type(.enum), "x", "unchecked"),
        ])
    }

    @Test func numbersAreReadAsInJavaScript() {
        check([
            (type(.number), "5.", "fits"), (type(.number), "-.5", "fits"),
            (type(.number), ".", "misfit"), (type(.number), "-", "misfit"),
            (type(.number), "1e", "coerced"), (type(.number), "1e+", "coerced"),
            (type(.number), "1E+2", "fits"), (type(.number), "1e999", "misfit"),
            (type(.number), "inf", "misfit"), (type(.number), "nan", "misfit"),
            (type(.number), "\u{FEFF}\u{A0}1", "coerced"), (type(.number), "1\n", "coerced"),
            (type(.number), String(repeating: "0", count: 900) + "1", "fits"),
            (type(.number), String(repeating: "1", count: 2000), "unchecked"),
            (type(.number, ["precision": .number("2")]), "1.005", "coerced"),
            (type(.number, ["isInt": .flag(true)]), "-0.5", "coerced"),
            (type(.number, ["isInt": .flag(true)]), "4.0", "fits"),
            (type(.number, ["isDivisibleBy": .number("0")]), "4", "misfit"),
            (type(.number, ["isDivisibleBy": .number("0.5")]), "4.5", "fits"),
            (type(.number, ["min": .number("1.5")]), "1.4", "misfit"),
            (
                type(.number, ["min": .number("3"), "coerceToMinMaxRange": .flag(true)]), "1",
                "coerced"
            ),
            (type(.port), "+80", "coerced"), (type(.port), "-0", "coerced"),
            (type(.port), "8E1", "coerced"), (type(.port), "99999999999999999999", "misfit"),
        ])
    }

    @Test func booleansAreTrimmed() {
        check([
            (type(.boolean), "\u{2003}On\n", "coerced"), (type(.boolean), "tru", "misfit"),
            (type(.boolean), "oN", "fits"), (type(.boolean), " ", "misfit"),
        ])
    }

    @Test func emailsFollowTheExpression() {
        check([
            (type(.email, ["normalize": .flag(true)]), "A@B.co", "coerced"),
            (type(.email, ["normalize": .flag(true)]), "a@b.co", "fits"),
            (type(.email), "\"\"@b.co", "misfit"), (type(.email), "\"a\nb\"@b.co", "misfit"),
            (type(.email), "\"a\u{2028}b\"@b.co", "misfit"), (type(.email), "\"@\"@b.co", "fits"),
            (type(.email), "a@b.c", "misfit"), (type(.email), "a@.co", "misfit"),
            (type(.email), "a@b..co", "misfit"), (type(.email), "a@-.co", "fits"),
            (type(.email), "a@b.c0", "misfit"), (type(.email), "a@[999.1.1.1]", "fits"),
            (type(.email), "a@[1.1.1]", "misfit"), (type(.email), "@b.co", "misfit"),
            (type(.email), ".a@b.co", "misfit"), (type(.email), "a.@b.co", "misfit"),
            (type(.email), "a\u{A0}@b.co", "misfit"),
        ])
    }

    @Test func addressesHaveTheirForms() {
        let six = type(.ip, ["version": .number("6")])
        check([
            (type(.ip), "0.0.0.0", "fits"), (type(.ip), "1.2.3.4.5", "misfit"),
            (type(.ip), "1.2.3.", "misfit"), (type(.ip), "1.2.3.1234", "misfit"),
            (type(.ip, ["version": .number("4")]), "1.2.3.4", "fits"),
            (six, "::", "fits"), (six, "1::", "fits"), (six, "1:2:3:4:5:6:7:8", "fits"),
            (six, "1:2:3:4:5:6:7::", "fits"), (six, "::2:3:4:5:6:7:8", "fits"),
            (six, "1:2:3:4:5:6:7:8::", "misfit"), (six, "1:2:3:4:5:6:7", "misfit"),
            (six, "1:2:3:4:5:6:7:8:9", "misfit"), (six, "1:", "misfit"), (six, ":1", "misfit"),
            (six, ":::", "misfit"), (six, "12345::", "misfit"),
            (six, "1:2:3:4:5:6:1.2.3.4", "fits"),
            (six, "1:2:3:4:5:6:7:1.2.3.4", "misfit"), (six, "::1.2.3.4:5", "misfit"),
            (six, "::1%", "misfit"), (six, "::1%a-b", "misfit"), (six, "::g", "misfit"),
            (type(.ip, ["version": .number("6"), "normalize": .flag(true)]), "::A", "coerced"),
            (type(.ip, ["version": .number("6"), "normalize": .flag(true)]), "::a", "fits"),
        ])
    }

    @Test func versionsAreSemantic() {
        check([
            (type(.semver), "1.0.0-alpha.0.x-y", "fits"), (type(.semver), "1.0.0-", "misfit"),
            (type(.semver), "1.0.0-a..b", "misfit"), (type(.semver), "1.0.0+001", "fits"),
            (type(.semver), "1.0.0-0a", "fits"), (type(.semver), "1.0.0-a+b.c", "fits"),
            (type(.semver), "1.0.0+", "misfit"), (type(.semver), "1.0.0+a+b", "misfit"),
            (type(.semver), "1.0.0\n", "misfit"), (type(.semver), "0.0.0", "fits"),
        ])
    }

    @Test func identifiersHaveTheirDigits() {
        check([
            (type(.uuid), "123e4567-e89b-62d3-a456-426614174000", "misfit"),
            (type(.uuid), "123e4567-e89b-12d3-7456-426614174000", "misfit"),
            (type(.uuid), "123e4567-e89b-12d3-0456-42661417400g", "misfit"),
            (type(.md5), "d41d8cd98f00b204e9800998ecf8427g", "misfit"),
        ])
    }

    @Test func durationsHaveUnits() {
        check([
            (type(.duration), "1 HOURS", "fits"), (type(.duration), "2wks", "fits"),
            (type(.duration), " 30s ", "coerced"), (type(.duration), "1.", "misfit"),
            (type(.duration), "1.5.5s", "misfit"), (type(.duration), "1 ", "coerced"),
            (type(.duration), "0s", "fits"), (type(.duration), "0.4", "misfit"),
            (type(.duration), "0.5", "fits"), (type(.duration), "1sx", "misfit"),
            (type(.duration), String(repeating: "9", count: 400) + "w", "misfit"),
            (type(.duration, ["output": .text("days")]), "1s", "fits"),
            (type(.duration, ["max": .number("1000")]), "2s", "misfit"),
            (type(.duration, ["min": .text("1 min")]), "1m", "fits"),
        ])
    }

    @Test func arraysBoundTheirElements() {
        let numbers = ValueType(.array, options: ["element": .type(ValueType(.number))])
        check([
            (type(.array, ["minLength": .number("0")]), "[]", "fits"),
            (type(.array, ["isLength": .number("0")]), "[]", "fits"),
            (type(.array, ["isLength": .number("2")]), "a,b", "fits"),
            (type(.array, ["isLength": .number("2")]), "a", "misfit"),
            (type(.array, ["unique": .flag(true)]), "a, a", "misfit"),
            (type(.array, ["unique": .flag(true)]), #"["a","\u0061"]"#, "misfit"),
            (type(.array, ["unique": .flag(true)]), "[[1],[1]]", "unchecked"),
            (type(.array, ["separator": .text("; ")]), "a; b;c", "fits"),
            (
                type(.array, ["separator": .text("--"), "isLength": .number("3")]), "a--b---c",
                "fits"
            ),
            (type(.array, ["format": .text("json")]), "a", "fits"),
            (numbers, "1,2x", "coerced"), (numbers, "1,2x,y", "misfit"),
            (numbers, "[1,null]", "misfit"), (numbers, "[true]", "misfit"),
            (numbers, #"["\u0031"]"#, "fits"), (numbers, "[1", "misfit"),
            (type(.array), "[null]", "coerced"), (type(.array), "[{}]", "coerced"),
            (type(.array), "  ", "misfit"), (type(.array), #"["\ud800"]"#, "fits"),
            (type(.array, ["element": .type(numbers)]), "[[1],[2,3]]", "fits"),
            (type(.array, ["element": .type(numbers)]), "[[1],[]]", "misfit"),
            (type(.array, ["element": .type(numbers)]), #"["[1]", "2"]"#, "fits"),
            (type(.array, ["element": .type(numbers)]), #"[{"a":1}]"#, "misfit"),
            (type(.array, ["element": .type(ValueType(.simpleObject))]), "[{}]", "fits"),
            (type(.array), String(repeating: "a,", count: 10_000), "fits"),
            (type(.array), String(repeating: "a,", count: 10_001), "unchecked"),
        ])
    }

    @Test func recordsBoundTheirEntries() {
        check([
            (type(.record, ["entriesMinLength": .number("0")]), "{}", "fits"),
            (type(.record, ["entriesMinLength": .number("2")]), #"{"a":1}"#, "misfit"),
            (type(.record, ["entriesMaxLength": .number("1")]), #"{"a":1,"b":2}"#, "misfit"),
            (type(.record, ["entriesMaxLength": .number("1")]), #"{"a":1,"\u0061":2}"#, "fits"),
            (type(.record, ["entriesIsLength": .number("1")]), #" {"a":1} "#, "fits"),
            (type(.record, ["entriesIsLength": .number("2")]), #"{"a":1}"#, "misfit"),
            (type(.record), #"{"a":[{}]}"#, "fits"),
            (type(.record, ["values": .type(ValueType(.port))]), #"{"a":"80a"}"#, "coerced"),
            (
                type(.record, ["keyType": .type(ValueType(.md5))]),
                #"{"d41d8cd98f00b204e9800998ecf8427\u0065":1}"#, "fits"
            ),
        ])
    }

    @Test func objectsAreJSON() {
        check([
            (type(.simpleObject), "\u{FEFF}{}", "misfit"), (type(.simpleObject), " {} ", "fits"),
            (type(.simpleObject), "{} x", "misfit"),
            (
                type(.simpleObject),
                "{\"a\":" + String(repeating: "[", count: 80) + String(repeating: "]", count: 80)
                    + "}", "unchecked"
            ),
        ])
    }

    @Test func deepTypesAreNotFollowed() {
        var deep = ValueType(.string, options: ["matches": .text("(?=a)")])
        for _ in 0..<40 { deep = ValueType(.array, options: ["element": .type(deep)]) }
        #expect(deep.fit(of: "a").word == "unchecked")
        #expect(!deep.hasUnsupportedPattern)
    }

    @Test func longValuesAreNotChecked() {
        #expect(type(.md5).fit(of: String(repeating: "a", count: 1_048_577)).word == "unchecked")
    }

    @Test func typesKnowTheirOptions() {
        #expect(ValueType.Name.string.takes(option: "minLength"))
        #expect(!ValueType.Name.string.takes(option: "min"))
        #expect(!ValueType.Name.enum.takes(option: "values"))
        #expect(!ValueType.Name.array.takes(option: "element"))
        #expect(!ValueType.Name.record.takes(option: "values"))
        #expect(ValueType.Name.record.takes(option: "keyType"))
        #expect(
            ValueType.Name.allCases.filter(\.takesPositionalArguments) == [
                .enum, .array, .record,
            ])
    }

    @Test func unsupportedPatternsAreFoundAtAnyDepth() {
        let text = ValueType(.string, options: ["matches": .text("^(?!a)")])
        #expect(text.hasUnsupportedPattern)
        #expect(text.fit(of: "b") == .unchecked("its pattern is not supported"))
        #expect(ValueType(.array, options: ["element": .type(text)]).hasUnsupportedPattern)
        #expect(ValueType(.record, options: ["keyType": .type(text)]).hasUnsupportedPattern)
        #expect(!ValueType(.string, options: ["startsWith": .text("(?!")]).hasUnsupportedPattern)
        #expect(!ValueType(.url, options: ["matches": .text("^https:")]).hasUnsupportedPattern)
    }
}
