import EnvSchema
import JSON
import Testing

/// The cases whose outcome was measured with the tool that the notation comes from.
@Suite struct ValueCasesTests {
    @Test func valuesFitAsMeasured() throws {
        let cases = try SchemaCases.read("values")
        #expect(cases.count == 229)
        for (number, value) in cases.enumerated() {
            let type = try #require(SchemaCases.type(of: value))
            let text = try #require(value["value"]?.text)
            let fit = type.fit(of: text)
            let expected =
                value["valid"] != .bool(true)
                ? "misfit" : value["note"]?.text == "coerced" ? "coerced" : "fits"
            #expect(fit.word == expected, "case \(number): \(type) \(text) is \(fit)")
        }
    }
}

extension ValueType {
    func fit(of text: String) -> ValueFit {
        let bytes = Array(text.utf8)
        return unsafe fit(of: bytes.span.bytes)
    }
}

extension ValueFit {
    var word: String {
        switch self {
        case .fits: "fits"
        case .coerced: "coerced"
        case .misfit: "misfit"
        case .unchecked: "unchecked"
        }
    }

    var reason: String? {
        switch self {
        case .fits: nil
        case .coerced(let reason), .misfit(let reason), .unchecked(let reason): reason
        }
    }
}
