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
        let cost = try text.map { try PassphraseCost(text: $0) } ?? fallback
        try checkMemory(cost)
        if cost.isWeakerThanInteractive {
            workspace.context.warn(
                "weak-kdf",
                "A passphrase check this cheap makes guessing cheap: use it for tests only.")
        }
        return cost
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
