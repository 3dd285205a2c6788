import CSecret
import Glibc

/// An open session with a Secret Service. Calls may come from any thread and cannot overlap,
/// because each is mutating.
@safe
struct SecretServiceSession: ~Copyable, @unchecked Sendable {
    private let session: OpaquePointer

    /// Connects to the bus at `address`, within `limitMilliseconds`.
    init(address: String, limitMilliseconds: UInt32) throws(SecretServiceFailure) {
        var opened: OpaquePointer?
        unsafe try SecretServiceFailure.check(zg_secret_open(address, limitMilliseconds, &opened))
        guard let opened = unsafe opened else { throw .reported(ZG_SECRET_FAILED, message: nil) }
        unsafe session = opened
    }

    deinit {
        unsafe zg_secret_close(session)
    }

    /// Sets the total time limit for subsequent calls.
    mutating func setLimit(milliseconds: UInt32) {
        unsafe zg_secret_set_limit(session, milliseconds)
    }

    /// Searches for items with these attributes, without prompting. Nil matches any value.
    mutating func matches(
        vault: String, purpose: String? = nil, identifier: String? = nil
    ) throws(SecretServiceFailure) -> SecretServiceMatches {
        var found: OpaquePointer?
        unsafe try SecretServiceFailure.check(
            zg_secret_search(session, vault, purpose, identifier, &found))
        guard let found = unsafe found else { throw .reported(ZG_SECRET_FAILED, message: nil) }
        return unsafe SecretServiceMatches(taking: found)
    }

    /// Unlocks the locked matches, which may prompt, and returns the number of unlocked ones.
    mutating func unlock(_ matches: borrowing SecretServiceMatches) throws(SecretServiceFailure)
        -> Int
    {
        var count = 0
        unsafe try SecretServiceFailure.check(
            zg_secret_unlock_matches(session, matches.pointer, &count), mayPrompt: true)
        return count
    }

    /// Unlocks the default collection, which may prompt, and returns its state.
    mutating func unlockDefaultCollection() throws(SecretServiceFailure)
        -> SecretServiceStatus.Collection
    {
        var state = ZG_SECRET_COLLECTION_MISSING
        unsafe try SecretServiceFailure.check(
            zg_secret_unlock_default(session, &state), mayPrompt: true)
        return SecretServiceStatus.Collection(state)
    }

    /// Returns the state of the default collection, without prompting.
    mutating func defaultCollection() throws(SecretServiceFailure) -> SecretServiceStatus.Collection
    {
        var state = ZG_SECRET_COLLECTION_MISSING
        unsafe try SecretServiceFailure.check(zg_secret_default_collection(session, &state))
        return SecretServiceStatus.Collection(state)
    }

    /// Passes the text of the unlocked item at `index` to `body`.
    mutating func withText<R: ~Copyable>(
        of matches: borrowing SecretServiceMatches, at index: Int,
        _ body: (RawSpan) throws(SecretServiceFailure) -> R
    ) throws(SecretServiceFailure) -> R {
        var value: OpaquePointer?
        unsafe try SecretServiceFailure.check(
            zg_secret_read(session, matches.pointer, index, &value))
        guard let value = unsafe value else { throw .reported(ZG_SECRET_FAILED, message: nil) }
        defer { unsafe zg_secret_free_value(value) }
        var length = 0
        let bytes = unsafe zg_secret_bytes(value, &length)
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length)
        let span = unsafe buffer.bytes
        return try body(span)
    }

    /// Returns an attribute of the unlocked item at `index`, or nil if it has none.
    mutating func attribute(
        _ name: String, of matches: borrowing SecretServiceMatches, at index: Int
    ) throws(SecretServiceFailure) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        unsafe try SecretServiceFailure.check(
            zg_secret_read_attribute(session, matches.pointer, index, name, &text))
        defer { unsafe free(text) }
        return unsafe text.map { unsafe String(cString: $0) }
    }

    /// Deletes the unlocked item at `index`. May prompt.
    mutating func delete(
        _ matches: borrowing SecretServiceMatches, at index: Int
    ) throws(SecretServiceFailure) {
        unsafe try SecretServiceFailure.check(
            zg_secret_delete(session, matches.pointer, index), mayPrompt: true)
    }

    /// Stores `text` in the default collection, replacing an item there with the same attributes.
    /// May prompt.
    mutating func store(
        _ text: RawSpan, vault: String, purpose: String, identifier: String, label: String
    ) throws(SecretServiceFailure) {
        let result = unsafe text.withUnsafeBytes { bytes in
            unsafe zg_secret_store(
                session, vault, purpose, identifier, label, bytes.baseAddress, bytes.count)
        }
        unsafe try SecretServiceFailure.check(result, mayPrompt: true)
    }

    /// Returns the process id of the service.
    mutating func provider() throws(SecretServiceFailure) -> UInt32 {
        var identifier: UInt32 = 0
        unsafe try SecretServiceFailure.check(zg_secret_provider(session, &identifier))
        return identifier
    }
}

/// Search results.
@safe
struct SecretServiceMatches: ~Copyable {
    fileprivate let pointer: OpaquePointer

    fileprivate init(taking pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe zg_secret_free_matches(pointer)
    }

    var unlockedCount: Int { unsafe zg_secret_match_count(pointer, false) }
    var lockedCount: Int { unsafe zg_secret_match_count(pointer, true) }
}

extension SecretServiceStatus.Collection {
    fileprivate init(_ state: zg_secret_collection) {
        switch state {
        case ZG_SECRET_COLLECTION_UNLOCKED: self = .unlocked
        case ZG_SECRET_COLLECTION_LOCKED: self = .locked
        default: self = .missing
        }
    }
}
