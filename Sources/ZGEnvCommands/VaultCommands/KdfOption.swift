internal import CommandLineKit
internal import Sealing

/// `--kdf`: what one guess at a passphrase costs.
enum KdfOption {
    static let spec = OptionSpec(
        "kdf", value: "COST",
        "Cost of one guess: moderate, interactive, or MEMORY,OPS such as 64MiB,3",
        completion: .words(["moderate", "interactive"]))

    /// The cost that the option names, or `fallback`; warned about when it is cheap, and refused when
    /// there is not the memory for it.
    static func cost(
        _ text: String?, _ workspace: Workspace, or fallback: PassphraseCost
    ) throws -> PassphraseCost {
        let cost = try text.map(cost) ?? fallback
        try checkMemory(cost)
        if cost.isWeakerThanInteractive {
            workspace.context.warn(
                "weak-kdf",
                "A passphrase check this cheap makes guessing cheap: use it for tests only.")
        }
        return cost
    }

    /// Reads `moderate`, `interactive` or `MEMORY,OPS`.
    static func cost(_ text: String) throws -> PassphraseCost {
        switch text {
        case "moderate": return .moderate
        case "interactive": return .interactive
        default: break
        }
        let invalid = CommandError(
            .usage, "That is no cost for a passphrase.",
            hint:
                "Give moderate, interactive, or MEMORY,OPS from 8MiB,1 up to 1GiB, such as 64MiB,3."
        )
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let operations = UInt32(parts[1]),
            let memory = memoryByteCount(parts[0])
        else { throw invalid }
        let cost = PassphraseCost(operations: operations, memoryByteCount: memory)
        guard cost.isAcceptable else { throw invalid }
        return cost
    }

    private static func memoryByteCount(_ text: Substring) -> UInt64? {
        for (unit, shift) in [("MiB", 20), ("GiB", 30)] as [(String, UInt64)]
        where text.hasSuffix(unit) {
            guard let number = UInt64(text.dropLast(3)), number <= 1 << 20 else { return nil }
            return number << shift
        }
        return nil
    }

    private static func checkMemory(_ cost: PassphraseCost) throws {
        guard let available = AvailableMemory.byteCount(), cost.memoryByteCount > available else {
            return
        }
        throw CommandError(
            .failed,
            "The passphrase would take \(cost.memoryByteCount >> 20) MiB of memory to check, and "
                + "\(available >> 20) MiB are available.",
            hint: "Choose a smaller cost with --kdf. Nothing was changed.")
    }
}
