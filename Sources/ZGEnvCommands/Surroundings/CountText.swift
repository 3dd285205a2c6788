/// Numbers of things in messages.
enum CountText {
    /// Returns "1 value", "2 values".
    static func of(_ count: some BinaryInteger, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}
