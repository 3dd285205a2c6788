internal import Vault

/// A type with which Vercel protects a value less than before.
enum WeakerType {
    /// A value and its type in the vault until now.
    struct Value {
        let name: String
        let scope: Scope
        let before: VariableAttributes.Kind?
    }

    /// Warns of values that get a weaker type in the vault, in one line.
    static func warn(
        _ values: [Value], to now: VariableAttributes.Kind, _ context: Context
    ) {
        let weaker = values.filter { now.strictness < ($0.before ?? now).strictness }
        guard let first = weaker.first, let before = first.before else { return }
        guard weaker.count > 1 else {
            return context.warn(
                "weaker-type",
                "\(first.name) (\(first.scope.description)): \(clause(from: before, to: now)).")
        }
        context.warn(
            "weaker-type",
            "\(weaker.count) variables get the weaker type \(now.name): \(VariableName.list(weaker.map(\.name)))."
        )
    }

    /// What the change means on Vercel, as a clause without a subject.
    static func clause(
        from before: VariableAttributes.Kind, to now: VariableAttributes.Kind
    ) -> String {
        let types = "its type changes from \(before.name) to \(now.name)"
        return before == .sensitive ? "becomes readable on Vercel; \(types)" : types
    }
}
