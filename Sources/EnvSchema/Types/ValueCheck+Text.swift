extension ValueCheck {
    func text(_ value: ValueSlice, _ type: ValueType) -> ValueFit {
        let upper = type.flag("toUpperCase")
        let lower = type.flag("toLowerCase")
        guard upper || lower else { return plainText(value, type) }
        let coercion = "not in \(lower ? "lower" : "upper") case"
        return converted(value, upper: upper, lower: lower, coercion) { plainText($0, type) }
    }

    private func plainText(_ value: ValueSlice, _ type: ValueType) -> ValueFit {
        let length = Double(value.utf16Count)
        if let least = type.number("minLength"), length < least {
            return .misfit("shorter than \(characters(least))")
        }
        if let most = type.number("maxLength"), length > most {
            return .misfit("longer than \(characters(most))")
        }
        if let exact = type.number("isLength"), length != exact {
            return .misfit("not \(characters(exact)) long")
        }
        if let start = type.text("startsWith"), !value.starts(with: start.utf8) {
            return .misfit("does not start with \(SchemaText.shown(start))")
        }
        if let end = type.text("endsWith"), !value.ends(with: end.utf8) {
            return .misfit("does not end with \(SchemaText.shown(end))")
        }
        return pattern(type, value)
    }

    private func characters(_ count: Double) -> String {
        SchemaText.counted(count, "character", "characters")
    }

    func member(_ value: ValueSlice, _ type: ValueType) -> ValueFit {
        guard let members = type.list("values"), !members.isEmpty else {
            return .unchecked("its type has no members")
        }
        guard countComparisons(members) else { return Self.tooManyComparisons }
        guard !members.contains(where: { value.equals($0) }) else { return .fits }
        return .misfit("not one of \(SchemaText.shown(members))")
    }

    func email(_ value: ValueSlice, _ type: ValueType) -> ValueFit {
        lowerCased(value, type) {
            EmailForm.matches($0) ? .fits : .misfit("not an email address")
        }
    }

    func address(_ value: ValueSlice, _ type: ValueType) -> ValueFit {
        let isSix = type.number("version") == 6
        return lowerCased(value, type) { value in
            let matches =
                isSix ? AddressForm.isVersion6(value) : AddressForm.version4(value) != nil
            return matches ? .fits : .misfit("not an IPv\(isSix ? 6 : 4) address")
        }
    }

    /// Checks the text in lower case if the type normalizes it.
    private func lowerCased(
        _ value: ValueSlice, _ type: ValueType, _ check: (ValueSlice) -> ValueFit
    ) -> ValueFit {
        guard type.flag("normalize") else { return check(value) }
        return converted(value, upper: false, lower: true, "not in lowercase", check)
    }

    /// Checks the text with case mapping applied, and notes `coercion` if that changed it. A final
    /// sigma becomes the ordinary one in lower case.
    private func converted(
        _ value: ValueSlice, upper: Bool, lower: Bool, _ coercion: String,
        _ check: (ValueSlice) -> ValueFit
    ) -> ValueFit {
        // No mapping makes a character more than three times as long in UTF-8, nor both mappings
        // together.
        ScratchText.lend(value.count * 3) { text in
            var bytes = value.makeIterator()
            var decoder = UTF8()
            while case let result = decoder.decode(&bytes), result != .emptyInput {
                guard case .scalarValue(let scalar) = result else { continue }
                if scalar.isASCII {
                    text.append(Self.mapped(UInt8(scalar.value), upper: upper, lower: lower))
                    continue
                }
                // Short enough that no heap memory holds it.
                let raised = upper ? scalar.properties.uppercaseMapping : String(scalar)
                for scalar in raised.unicodeScalars {
                    text.append(
                        (lower ? scalar.properties.lowercaseMapping : String(scalar)).utf8)
                }
            }
            let fit = check(text.slice)
            return text.slice.elementsEqual(value) ? fit : fit.combined(with: .coerced(coercion))
        }
    }

    /// Maps an ASCII letter.
    private static func mapped(_ byte: UInt8, upper: Bool, lower: Bool) -> UInt8 {
        if lower { return byte.lowerCase }
        return upper && (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
    }
}
