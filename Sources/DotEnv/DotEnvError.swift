/// Why a text could not be read or written, without any value.
package struct DotEnvError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The text is longer than ``DotEnvReader/maximumSize``.
        case tooLarge
        /// There are more entries than ``DotEnvReader/maximumEntries``.
        case tooManyEntries
        /// The text is not well-formed UTF-8.
        case invalidUTF8
        case nulByte
        /// The dialect refuses the text at the place.
        case refused
        /// A shell would execute or expand something in the text.
        case wouldExecute
        /// Variables refer to each other in a circle.
        case expansionCycle
        /// The expanded values are too long or nested too deeply.
        case expansionTooLarge
        /// The format cannot represent the name.
        case unwritableName
        /// The format cannot represent the value.
        case unwritableValue
        case duplicateKey
        /// The written text did not read back as the same values.
        case notVerified
    }

    package let code: Code
    /// The problem in words, without values.
    package let reason: String
    /// The offset of the offending byte, from 0 in the bytes as given.
    package let offset: Int?
    package let position: DotEnvPosition?
    package let key: String?
    /// The formats that can represent the variable.
    package let formats: [DotEnvFormat]

    init(
        _ code: Code, _ reason: String, offset: Int? = nil, position: DotEnvPosition? = nil,
        key: String? = nil, formats: [DotEnvFormat] = []
    ) {
        self.code = code
        self.reason = reason
        self.offset = offset
        self.position = position
        self.key = key
        self.formats = formats
    }

    package var description: String {
        var text = ""
        if let position {
            text += "line \(position.line), column \(position.column): "
        }
        if let key {
            text += "\(key): "
        }
        text += reason
        if let offset, code == .invalidUTF8 || code == .nulByte {
            text += " (byte \(offset))"
        }
        return text
    }
}
