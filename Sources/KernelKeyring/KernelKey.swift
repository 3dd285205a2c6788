internal import CLinux
internal import Glibc
internal import Sealing

/// A kernel key or keyring, identified by its serial number or a special id.
struct KernelKey: Hashable {
    /// Permissions of a key (keyrings(7)): view, read, search, link, set attributes. Nobody may
    /// write.
    enum Access: UInt32 {
        /// Any process that reaches the key through one of its own keyrings, whatever its uid.
        case possessor = 0x3b00_0000
        /// The uid that created the key, however it reaches it; nobody else, not even a possessor.
        case owner = 0x003b_0000
    }

    let serial: Int32

    /// The keyring shared by all logins of the uid.
    static let user = KernelKey(serial: Int32(ZG_USER_KEYRING))

    /// Adds a key with a timeout to `keyring`, replacing one with the same description.
    ///
    /// The key is created in the process keyring, so that a process killed between the calls leaves
    /// no key without timeout and permissions.
    @discardableResult
    static func put(
        _ payload: RawSpan, description: String, seconds: UInt32, access: Access,
        into keyring: KernelKey
    ) throws(KernelKeyringError) -> KernelKey {
        let serial = unsafe payload.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe zg_key_add(description, $0, bytes.count) } ?? -1
        }
        guard serial > 0 else { throw KernelKeyringError(number: errno, call: "add_key") }
        let key = KernelKey(serial: serial)
        // Invalidated rather than unlinked on failure, so that no copy remains.
        do throws(KernelKeyringError) {
            try check(zg_key_set_timeout(serial, seconds), "set timeout")
            try check(zg_key_set_permissions(serial, access.rawValue), "set permissions")
            try check(zg_key_link(serial, keyring.serial), "link")
        } catch {
            _ = zg_key_invalidate(serial)
            throw error
        }
        _ = zg_key_unstage(serial)
        return key
    }

    /// Returns the live, accessible key with that description in this keyring or those linked into
    /// it, or nil.
    func search(_ description: String) throws(KernelKeyringError) -> KernelKey? {
        let found = unsafe zg_key_search(serial, description)
        if found > 0 { return KernelKey(serial: found) }
        return try Self.absent(errno, "search")
    }

    /// Reads the payload into guarded memory. Returns nil if the key has expired or is not
    /// accessible, or if its length differs.
    func payload(count: Int) throws(KernelKeyringError) -> SecretBytes? {
        var bytes = try guarding { () throws(SealingError) in try SecretBytes(count: count) }
        let length = bytes.withMutableBytes { target in
            unsafe target.withUnsafeMutableBytes { buffer in
                unsafe buffer.baseAddress.map {
                    unsafe zg_key_read(serial, $0, buffer.count)
                } ?? -1
            }
        }
        if length == count { return bytes }
        return length < 0 ? try Self.absent(errno, "read") : nil
    }

    /// The keys linked into this keyring.
    func children() throws(KernelKeyringError) -> [KernelKey] {
        // Keys may be added between two calls, so this repeats until the buffer is large enough.
        var serials = [Int32](repeating: 0, count: 64)
        while true {
            let room = serials.count * 4
            let length = unsafe serials.withUnsafeMutableBytes { buffer in
                unsafe buffer.baseAddress.map { unsafe zg_key_read(serial, $0, room) } ?? -1
            }
            guard length >= 0 else { throw KernelKeyringError(number: errno, call: "read") }
            if length <= room { return serials.prefix(length / 4).map { KernelKey(serial: $0) } }
            // The kernel's own limit is far lower; this one only bounds the loop.
            guard length <= 1 << 24 else {
                throw KernelKeyringError(.failed, "a keyring is too large to list")
            }
            serials = [Int32](repeating: 0, count: length / 4 + 16)
        }
    }

    /// The description, or nil if it is not readable.
    var description: String? {
        var text = [CChar](repeating: 0, count: 4_352)
        let length = unsafe zg_key_describe(serial, &text, text.count)
        guard length > 0, length <= text.count else { return nil }
        let fields = text.prefix(length - 1).map { UInt8(bitPattern: $0) }
            .split(separator: UInt8(ascii: ";"), maxSplits: 4, omittingEmptySubsequences: false)
        return fields.count == 5 ? String(validating: fields[4], as: UTF8.self) : nil
    }

    /// Ends the key immediately, for all sessions.
    func invalidate() { _ = zg_key_invalidate(serial) }

    private static func check(_ status: Int32, _ call: String) throws(KernelKeyringError) {
        guard status == 0 else { throw KernelKeyringError(number: errno, call: call) }
    }

    /// Returns nil if `number` means that there is no such key for us, and throws otherwise.
    private static func absent<R: ~Copyable>(
        _ number: Int32, _ call: String
    ) throws(KernelKeyringError) -> R? {
        switch number {
        case ENOKEY, EKEYEXPIRED, EKEYREVOKED, EACCES: return nil
        default: throw KernelKeyringError(number: number, call: call)
        }
    }
}

/// Runs `body`, translating a failure to allocate guarded memory.
func guarding<R: ~Copyable>(
    _ body: () throws(SealingError) -> R
) throws(KernelKeyringError) -> R {
    do { return try body() } catch {
        throw KernelKeyringError(.failed, "cannot allocate guarded memory")
    }
}
