/// Generates identifiers in Vercel's format, deterministically from the seed.
///
/// Uses SplitMix64. Nothing here is secret: the tokens only open a sandbox on this machine.
struct IdentifierGenerator: Codable, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private static let alphanumerics = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    private static let hexadecimals = Array("0123456789abcdef")
    private static let lowercase = Array("abcdefghijklmnopqrstuvwxyz0123456789")

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private mutating func text(_ count: Int, of characters: [Character]) -> String {
        String((0..<count).map { _ in characters[Int(next() % UInt64(characters.count))] })
    }

    /// Returns a prefix with letters and digits, such as `prj_` and 28 of them.
    mutating func identifier(_ prefix: String, count: Int) -> String {
        prefix + text(count, of: Self.alphanumerics)
    }

    /// Returns lowercase hexadecimal digits.
    mutating func hexadecimal(_ count: Int) -> String { text(count, of: Self.hexadecimals) }

    /// Returns lowercase letters and digits, as in host names.
    mutating func label(_ count: Int) -> String { text(count, of: Self.lowercase) }
}
