import Sealing
import Vault

@testable import KernelKeyring

/// A cached root of 32 equal bytes at a position.
struct Kept: Equatable, Sendable {
    var byte: UInt8 = 7
    var position = VaultPosition(generation: 5, indexTag: Array(1...16))
    var endsAt: UInt64 = 0
    var scope = UnlockScope.session

    /// Stores it in the cache for `seconds`, at the time 1,000.
    func store(in cache: UnlockCache, for seconds: UInt32 = 100) throws {
        try [UInt8](repeating: byte, count: 32).withBytes {
            try cache.store(
                root: $0, position: position, seconds: seconds, now: 1_000, scope: scope)
        }
    }
}

extension UnlockCache {
    /// A cache for a vault that no other test uses.
    static func unused(epoch: UInt32 = 1) -> UnlockCache {
        UnlockCache(vault: .random(), epoch: epoch)
    }

    /// The cached entry in a comparable form; nil if locked.
    func found(now: UInt64 = 1_000) throws -> Kept? {
        guard let found = try find(now: now) else { return nil }
        var kept = Kept(position: found.position, endsAt: found.endsAt, scope: found.scope)
        let root = found.takeRoot()
        kept.byte = root.withBytes { $0.byte(at: 0) }
        let isWhole = root.withBytes { bytes in
            bytes.byteCount == 32 && (0..<32).allSatisfy { bytes.byte(at: $0) == kept.byte }
        }
        return isWhole ? kept : nil
    }
}

/// Runs `body` and returns the code of the error that it throws.
func code(_ body: () throws -> Void) -> KernelKeyringError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? KernelKeyringError)?.code
    }
}
