/// What a profile says of one key. A field that is absent may come from the profile `default`.
struct SecretspecEntry: Sendable {
    struct Field<Value: Sendable>: Sendable {
        var value: Value
        var line: Int
    }

    /// Individual and grouped requirement are one field: one of them replaces the other.
    enum Requirement: Sendable {
        case flag(Bool)
        case groups([SchemaGroup])
    }

    var line: Int
    /// Tells entries of one line apart.
    var place: Int
    var description: String?
    var required: Requirement?
    var defaultValue: String?
    var isComposed = false
    var isPath: Field<Bool>?
    var generates: Field<Bool>?
    var generatedType: Field<String>?
    var storedForm: Field<Void>?

    /// Returns this entry with what it leaves open taken from `other`.
    func inheriting(from other: SecretspecEntry) -> SecretspecEntry {
        var merged = self
        merged.description = description ?? other.description
        merged.required = required ?? other.required
        merged.defaultValue = defaultValue ?? other.defaultValue
        merged.isComposed = isComposed || other.isComposed
        merged.isPath = isPath ?? other.isPath
        merged.generates = generates ?? other.generates
        merged.generatedType = generatedType ?? other.generatedType
        merged.storedForm = storedForm ?? other.storedForm
        return merged
    }
}
