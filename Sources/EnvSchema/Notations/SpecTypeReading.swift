/// Reads `@type=…` of an item.
struct SpecTypeReading {
    let key: String
    let line: Int
    let notes: NoteList

    /// The functions that the other tool has built in. Any other name is an unknown type.
    private static let functions: Set<String> = [
        "cache", "concat", "eq", "exec", "fallback", "forEnv", "generateOtp", "if", "ifs",
        "inferFromPrefix", "isEmpty", "keychain", "not", "randomHex", "randomNum", "randomString",
        "randomUuid", "ref", "regex", "remap", "varlock",
    ]

    func type(_ value: SpecValue) -> ValueType {
        switch value {
        case .text(let text):
            if text.reference != nil {
                note(.dynamicType)
                return ValueType(.string)
            }
            return type(named: text.content, [])
        case .call(let call): return type(named: call.name, call.arguments)
        case .list, .object:
            note(.badValue, "type")
            return ValueType(.string)
        }
    }

    private func note(_ code: SchemaNote.Code, _ subject: String? = nil) {
        notes.add(code, key: key, line: line, subject: subject)
    }

    private func type(named name: String, _ arguments: [SpecArgument]) -> ValueType {
        guard let name = ValueType.Name(rawValue: name) else {
            if Self.functions.contains(name), !arguments.isEmpty {
                note(.dynamicType)
            } else {
                note(.unknownType, name)
            }
            return ValueType(.string)
        }
        let positional = arguments.filter { $0.name == nil }.map(\.value)
        if name == .enum { return enumeration(positional, arguments.count) }
        guard name.takesPositionalArguments ? positional.count < 2 : positional.isEmpty else {
            note(.badTypeOptions)
            return ValueType(name)
        }
        var type = ValueType(name)
        if let inner = positional.first {
            type.options[name == .array ? "element" : "values"] = .type(self.type(inner))
        }
        for argument in arguments {
            guard let option = argument.name else { continue }
            guard name.takes(option: option) else {
                note(.unknownOption, option)
                continue
            }
            if name == .record, option == "keyType" {
                type.options[option] = .type(self.type(argument.value))
            } else if let value = self.option(argument.value, named: option) {
                type.options[option] = value
            } else if case .undefined = argument.value.literal?.form {
                type.options[option] = nil
            } else if argument.value.function != nil {
                note(.dynamicOption, option)
            } else {
                note(.badTypeOptions)
                return ValueType(name)
            }
        }
        return type
    }

    private func enumeration(_ members: [SpecValue], _ count: Int) -> ValueType {
        guard !members.isEmpty, members.count == count else {
            note(.badTypeOptions)
            return ValueType(.string)
        }
        if members.contains(where: { $0.function != nil }) {
            note(.dynamicOption)
            return ValueType(.string)
        }
        let texts = members.compactMap(\.literal?.content)
        guard texts.count == members.count else {
            note(.badTypeOptions)
            return ValueType(.string)
        }
        return ValueType(.enum, options: ["values": .list(texts)])
    }

    /// Returns nil for a value that no option has, or that a function decides.
    private func option(_ value: SpecValue, named name: String) -> OptionValue? {
        switch value {
        case .text(let text):
            guard text.reference == nil else { return nil }
            switch text.form {
            case .text: return .text(text.content)
            case .number: return .number(text.content)
            case .flag(let flag): return .flag(flag)
            case .undefined: return nil
            }
        case .list(let values):
            let texts = values.compactMap(\.literal?.content)
            return texts.count == values.count ? .list(texts) : nil
        case .call(let call):
            guard call.name == "regex", call.arguments.count == 1, call.arguments[0].name == nil,
                let pattern = call.arguments[0].value.literal
            else { return nil }
            note(.deprecatedRegex, name)
            return .text(pattern.content)
        case .object: return nil
        }
    }
}
