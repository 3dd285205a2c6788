import Foundation

/// The length of the tests' long loops: a short form by default, all with ZG_ENV_PROOF=full.
package enum Proof {
    /// Whether the long loops run to their end.
    package static var isFull: Bool {
        ProcessInfo.processInfo.environment["ZG_ENV_PROOF"] == "full"
    }

    /// The number for this run.
    package static func count(short: Int, full: Int) -> Int { isFull ? full : short }

    /// All `items` in the full proof, otherwise some of them by the seed, at least one.
    package static func sample<T>(
        _ items: [T], short: Int, using random: inout ProofRandom
    ) -> [T] {
        isFull ? items : Array(items.shuffled(using: &random).prefix(short))
    }
}

/// Random numbers that repeat with the same seed, which is printed once.
///
/// ZG_ENV_PROOF_SEED sets the seed of an earlier run.
package struct ProofRandom: RandomNumberGenerator {
    /// The seed of this process.
    package static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["ZG_ENV_PROOF_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("proof: ZG_ENV_PROOF_SEED=\(seed)")
        return seed
    }()

    private var state: UInt64

    /// - Parameter stream: Distinguishes several generators of one process.
    package init(_ stream: UInt64 = 0) {
        state = Self.seed &+ stream &* 0x9E37_79B9_7F4A_7C15
    }

    /// The setting that repeats these numbers.
    package var seedText: String { "ZG_ENV_PROOF_SEED=\(Self.seed)" }

    package mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
