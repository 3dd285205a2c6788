/// What is unusual about Vercel in a sequence, beside its passage.
enum ModelCircumstance: String, Sendable, CaseIterable {
    /// Production variables are hidden from tokens for some of the time.
    case hidden
    /// Integrations manage some variables.
    case managed
    /// Some variables are Secrets by their visibility alone.
    case secret
    /// Production Secrets must be records of their own with values of their own, for some of the time.
    case separated

    /// Selects that of a sequence; nil for none.
    ///
    /// Most of the first ones, by which rules.py shows what the model notices, have none.
    init?(sequence number: Int) {
        let kinds = Self.allCases
        let index =
            number < 64 ? (number % 32 < 28 ? kinds.count : number % kinds.count) : number % 5
        guard kinds.indices.contains(index) else { return nil }
        self = kinds[index]
    }
}
