/// What `@required`, `@sensitive` or their opposites say.
enum SpecStatement {
    case flag(Bool)
    case environments([String])
    case exceptEnvironments([String])
    /// A function that is not evaluated.
    case depends
    /// Nothing; `@required=undefined`.
    case absent
    /// Not a value that the decorator has.
    case invalid

    init(_ value: SpecValue) {
        switch value {
        case .text(let text):
            if text.reference != nil {
                self = .depends
                return
            }
            switch text.form {
            case .flag(let flag): self = .flag(flag)
            case .undefined: self = .absent
            case .text, .number: self = .invalid
            }
        case .call(let call):
            if call.name == "not", call.arguments.count == 1, call.arguments[0].name == nil,
                case .call(let inner) = call.arguments[0].value, inner.name == "forEnv"
            {
                self = Self.environments(of: inner).opposite
            } else if call.name == "forEnv" {
                self = Self.environments(of: call)
            } else {
                self = .depends
            }
        case .list, .object: self = .invalid
        }
    }

    private static func environments(of call: SpecCall) -> SpecStatement {
        guard !call.arguments.isEmpty else { return .invalid }
        var names: [String] = []
        for argument in call.arguments {
            guard argument.name == nil, argument.value.function == nil else { return .depends }
            guard let name = argument.value.literal?.resolved, !name.isEmpty else {
                return .invalid
            }
            names.append(name)
        }
        return .environments(names)
    }

    /// The statement of the opposite decorator with the same value.
    var opposite: SpecStatement {
        switch self {
        case .flag(let flag): .flag(!flag)
        case .environments(let names): .exceptEnvironments(names)
        case .exceptEnvironments(let names): .environments(names)
        case .depends, .absent, .invalid: self
        }
    }

    /// Nil if nothing is stated.
    var requirement: SchemaRequirement? {
        switch self {
        case .flag(let flag): flag ? .always : .never
        case .environments(let names): .environments(names)
        case .exceptEnvironments(let names): .exceptEnvironments(names)
        case .depends: .depends
        case .absent, .invalid: nil
        }
    }
}
