internal import CommandLineKit
internal import Sealing

/// `--kdf`: the key-derivation cost of a passphrase.
enum KdfOption {
    static let spec = OptionSpec(
        "kdf", value: "COST",
        "Key-derivation cost: moderate, interactive, or MEMORY,OPS such as 64MiB,3",
        completion: .words(["moderate", "interactive"]))

    /// Returns the given cost or `fallback`; warns about a weak one.
    ///
    /// - Throws: ``ExitCode/failed`` when there is not enough memory for it.
    static func cost(
        _ text: String?, _ workspace: Workspace, or fallback: PassphraseCost
    ) throws -> PassphraseCost {
        let cost = try text.map { try PassphraseCost(text: $0) } ?? fallback
        if let available = AvailableMemory.byteCount(), cost.memoryByteCount > available {
            throw CommandError(
                .failed,
                "Checking the passphrase would need \(cost.memoryByteCount >> 20) MiB of memory, but only "
                    + "\(available >> 20) MiB is available.",
                hint: "Choose a lower cost with --kdf.")
        }
        if cost.isWeakerThanInteractive {
            workspace.context.warn(
                "weak-kdf",
                "Weak key-derivation cost: the passphrase is easy to brute-force. Use this cost for tests only."
            )
        }
        return cost
    }
}
