internal import Sealing

extension PassphraseCost {
    /// Parses `moderate`, `interactive` or `MEMORY,OPS`.
    init(text: String) throws {
        switch text {
        case "moderate":
            self = .moderate
            return
        case "interactive":
            self = .interactive
            return
        default: break
        }
        let invalid = CommandError(
            .usage, "The key-derivation cost is not valid.",
            hint:
                "Use moderate, interactive, or MEMORY,OPS from 8MiB,1 up to 1GiB, such as 64MiB,3."
        )
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let operations = UInt32(parts[1]),
            let memory = Self.memoryByteCount(parts[0])
        else { throw invalid }
        let cost = PassphraseCost(operations: operations, memoryByteCount: memory)
        guard cost.isAcceptable else { throw invalid }
        self = cost
    }

    private static func memoryByteCount(_ text: Substring) -> UInt64? {
        for (unit, shift) in [("MiB", 20), ("GiB", 30)] as [(String, UInt64)]
        where text.hasSuffix(unit) {
            guard let number = UInt64(text.dropLast(3)), number <= 1 << 20 else { return nil }
            return number << shift
        }
        return nil
    }
}
