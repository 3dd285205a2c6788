internal import CNATS
internal import Glibc
internal import Sealing
internal import SystemFiles

/// The credentials for the cluster, read at every start and never shown.
enum NATSCredentials {
    private static let byteLimit = 16_384

    /// Passes the credentials to the library, which keeps them for reconnects.
    static func apply(_ path: String, to options: OpaquePointer) throws(StoreError) {
        let unreadable = StoreError(
            .insecure, "The NATS credentials file is unreadable or too large.")
        guard let file = try? OpenFile(path, O_RDONLY | O_NONBLOCK),
            let facts = try? file.facts(), facts.kind == .regular,
            (1...UInt64(byteLimit)).contains(facts.byteCount)
        else { throw unreadable }
        guard facts.permissions & 0o007 == 0 else {
            throw StoreError(
                .insecure, "Other users can read the NATS credentials file.")
        }
        // One more byte for the terminating zero.
        guard var bytes = try? SecretBytes(count: Int(facts.byteCount) + 1) else {
            throw StoreError(.unavailable, "Cannot allocate guarded memory.")
        }
        guard let read = try? bytes.withMutableBytes({ try file.read(into: &$0) }) else {
            throw unreadable
        }
        let count = bytes.withMutableBytes { span in
            unsafe span.withUnsafeMutableBytes { target in
                var count = min(read, target.count - 1)
                unsafe target[target.count - 1] = 0
                // Final line ends belong to the file, not to the credentials.
                while count > 0, unsafe target[count - 1] == 0x0A || target[count - 1] == 0x0D {
                    unsafe target[count - 1] = 0
                    count -= 1
                }
                return count
            }
        }
        let status = bytes.withMutableBytes { span in
            unsafe span.withUnsafeMutableBytes { text in
                unsafe apply(text, count, path, to: options)
            }
        }
        guard status == NATS_OK else { throw unreadable }
    }

    private static func apply(
        _ text: UnsafeMutableRawBufferPointer, _ count: Int, _ path: String,
        to options: OpaquePointer
    ) -> natsStatus {
        guard count > 0, let base = text.baseAddress else { return NATS_INVALID_ARG }
        let start = unsafe base.assumingMemoryBound(to: CChar.self)
        if unsafe strstr(start, "NATS USER JWT") != nil {
            return unsafe natsOptions_SetUserCredentialsFromFiles(options, path, nil)
        }
        guard unsafe text[..<count].allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return NATS_INVALID_ARG
        }
        guard let colon = unsafe text[..<count].firstIndex(of: UInt8(ascii: ":")) else {
            return unsafe natsOptions_SetToken(options, start)
        }
        unsafe text[colon] = 0
        return unsafe natsOptions_SetUserInfo(options, start, start + colon + 1)
    }
}
