/// Why a text could not be read or written. It never holds a value.
package struct DotEnvError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package enum Code: String, Sendable {
        /// The text is longer than ``DotEnvReader/maximumSize``.
        case tooLarge
        /// There are more entries than ``DotEnvReader/maximumEntries``.
        case tooManyEntries
        /// A byte is not part of well-formed UTF-8.
        case invalidUTF8
        /// There is a NUL byte.
        case nulByte
        /// The chosen dialect refuses what stands at the place.
        case refused
        /// The text would run or expand something if a shell read it.
        case wouldExecute
        /// Names refer to each other in a circle.
        case expansionCycle
        /// The expanded values are longer than the limits, or refer to each other too deeply.
        case expansionTooLarge
        /// The format has no way to write the name.
        case unwritableName
        /// The format has no way to write the value.
        case unwritableValue
        /// Two values were given for one name.
        case duplicateKey
        /// What was written did not read back as the same values.
        case notVerified
    }

    /// The kind of failure.
    package let code: Code
    /// What is wrong, in words, without values.
    package let reason: String
    /// The offset of the byte at fault, from 0 and in the bytes as given.
    package let offset: Int?
    /// The same place in lines and columns.
    package let position: DotEnvPosition?
    /// The variable it is about.
    package let key: String?
    /// The formats that can carry what this one could not.
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
