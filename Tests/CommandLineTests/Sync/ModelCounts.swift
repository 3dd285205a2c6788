/// Events in sequences of the model test: one without any interaction would prove nothing.
struct ModelCounts: Sendable {
    private(set) var numbers: [String: Int] = [:]

    mutating func add(_ what: String, _ number: Int = 1) { numbers[what, default: 0] += number }

    mutating func add(_ other: ModelCounts) {
        numbers.merge(other.numbers) { $0 + $1 }
    }

    subscript(_ what: String) -> Int { numbers[what] ?? 0 }

    /// All of them, by name.
    var text: String {
        numbers.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
