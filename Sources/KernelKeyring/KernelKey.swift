internal import CLinux
internal import Glibc
internal import Sealing

/// A key or keyring of the kernel, by its serial number or one of the special ids.
struct KernelKey: Hashable {
    /// Who may do what with a key (keyrings(7)): view, read, search, link, set attributes; nobody may
    /// write.
    enum Access: UInt32 {
        /// Whoever reaches the key through a keyring of its own: the session, whatever the uid.
        case possessor = 0x3b00_0000
        /// The uid that made the key, however reached; nobody else, not even by possession.
        case owner = 0x003b_0000
    }

    let serial: Int32

    /// The keyring that all logins of the uid share.
    static let user = KernelKey(serial: Int32(ZG_USER_KEYRING))

    /// Makes a key that ends by itself, and puts it into `keyring` complete, in place of one with
    /// the same description.
    ///
    /// It is made in the process keyring: a process that is killed between the calls leaves no key
    /// without timeout and permissions behind.
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
        // Invalidated rather than unlinked on failure: nothing of it may stay.
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

    /// The key of that description in this keyring and those linked there; nil where there is none
    /// that is alive and may be had.
    func search(_ description: String) throws(KernelKeyringError) -> KernelKey? {
        let found = unsafe zg_key_search(serial, description)
        if found > 0 { return KernelKey(serial: found) }
        return try Self.absent(errno, "search")
    }

    /// The payload, straight into guarded memory; nil where it ended meanwhile, may not be had, or
    /// has another length.
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

    /// What is linked into this keyring.
    func children() throws(KernelKeyringError) -> [KernelKey] {
        // Keys may come between two calls, so it is read again until it fits.
        var serials = [Int32](repeating: 0, count: 64)
        while true {
            let room = serials.count * 4
            let length = unsafe serials.withUnsafeMutableBytes { buffer in
                unsafe buffer.baseAddress.map { unsafe zg_key_read(serial, $0, room) } ?? -1
            }
            guard length >= 0 else { throw KernelKeyringError(number: errno, call: "read") }
            if length <= room { return serials.prefix(length / 4).map { KernelKey(serial: $0) } }
            // The kernel's own bound is far lower; this one keeps the loop finite.
            guard length <= 1 << 24 else {
                throw KernelKeyringError(.failed, "a keyring is larger than any")
            }
            serials = [Int32](repeating: 0, count: length / 4 + 16)
        }
    }

    /// The description; nil where it may not be seen.
    var description: String? {
        var text = [CChar](repeating: 0, count: 4_352)
        let length = unsafe zg_key_describe(serial, &text, text.count)
        guard length > 0, length <= text.count else { return nil }
        let fields = text.prefix(length - 1).map { UInt8(bitPattern: $0) }
            .split(separator: UInt8(ascii: ";"), maxSplits: 4, omittingEmptySubsequences: false)
        return fields.count == 5 ? String(validating: fields[4], as: UTF8.self) : nil
    }

    /// Ends the key at once, for every session.
    func invalidate() { _ = zg_key_invalidate(serial) }

    private static func check(_ status: Int32, _ call: String) throws(KernelKeyringError) {
        guard status == 0 else { throw KernelKeyringError(number: errno, call: call) }
    }

    /// nil for what only says that there is no such key for us; an error for everything else.
    private static func absent<R: ~Copyable>(
        _ number: Int32, _ call: String
    ) throws(KernelKeyringError) -> R? {
        switch number {
        case ENOKEY, EKEYEXPIRED, EKEYREVOKED, EACCES: return nil
        default: throw KernelKeyringError(number: number, call: call)
        }
    }
}

/// Runs `body` and translates a failure to get guarded memory.
func guarding<R: ~Copyable>(
    _ body: () throws(SealingError) -> R
) throws(KernelKeyringError) -> R {
    do { return try body() } catch {
        throw KernelKeyringError(.failed, "guarded memory could not be had")
    }
}
