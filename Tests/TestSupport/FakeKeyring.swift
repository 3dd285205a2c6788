package import Sealing
internal import Threads
package import Vault

/// A keyring in memory that can be locked or made unavailable.
package final class FakeKeyring: Keyring {
    private struct State {
        var items: [KeyringItem: [UInt8]] = [:]
        var failure: KeyringError?
        var calls: [Call] = []
    }

    /// A recorded call.
    package enum Call: Equatable, Sendable {
        /// A call of ``Keyring/store(_:for:)``.
        case store(KeyringItem)
        /// A call of ``Keyring/secret(for:)``.
        case look(KeyringItem)
        /// A call of ``Keyring/remove(_:)``.
        case remove(KeyringItem)
    }

    private let state = Monitor(State())

    /// Makes an empty keyring.
    package init() {}

    package let name = "the test keyring"

    /// The error of every further call, such as `KeyringError(.locked, …)`; nil to work again.
    package var failure: KeyringError? {
        get { state.look { $0.failure } }
        set { state.look { $0.failure = newValue } }
    }

    /// The calls so far, including failed ones.
    package var calls: [Call] { state.look { $0.calls } }

    /// The bytes of every item; access is not recorded as a call.
    package var items: [KeyringItem: [UInt8]] {
        get { state.look { $0.items } }
        set { state.look { $0.items = newValue } }
    }

    package func isUnlocked() throws(KeyringError) -> Bool { failure == nil }

    package func store(
        _ secret: borrowing SecretBytes, for item: KeyringItem
    ) throws(KeyringError) {
        let bytes = secret.withBytes { span in
            (0..<span.byteCount).map { span.byte(at: $0) }
        }
        try call(.store(item)) { $0[item] = bytes }
    }

    package func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        var found: [UInt8]?
        try call(.look(item)) { found = $0[item] }
        guard let found else { return nil }
        do {
            let secret = try found.withBytes { (span) throws(SealingError) in
                try SecretBytes(copying: span)
            }
            guard isWanted(secret) else { return nil }
            return secret
        } catch {
            throw KeyringError(.failed, "out of guarded memory")
        }
    }

    package func remove(_ item: KeyringItem) throws(KeyringError) {
        try call(.remove(item)) { $0[item] = nil }
    }

    private func call(
        _ call: Call, _ change: (inout [KeyringItem: [UInt8]]) -> Void
    ) throws(KeyringError) {
        let failure = state.look { state in
            state.calls.append(call)
            if state.failure == nil { change(&state.items) }
            return state.failure
        }
        if let failure { throw failure }
    }
}
