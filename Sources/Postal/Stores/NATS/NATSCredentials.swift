internal import CNATS
internal import Glibc
internal import Sealing

/// The file that says who a relay is to the cluster. Read again with every start, never shown.
enum NATSCredentials {
    private static let byteLimit = 16_384

    /// Gives what is in the file to the library, which keeps it for when it has to connect again.
    static func apply(_ path: String, to options: OpaquePointer) throws(StoreError) {
        let unreadable = StoreError(
            .insecure, "The file with the credentials for NATS cannot be read, or is too long.")
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw unreadable }
        defer { Glibc.close(file) }
        var information = stat()
        guard unsafe fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            information.st_size > 0, information.st_size <= byteLimit
        else { throw unreadable }
        guard information.st_mode & 0o007 == 0 else {
            throw StoreError(
                .insecure, "Everybody can read the file with the credentials for NATS.")
        }
        // One more, so that it ends with a zero, as C has it.
        guard var bytes = try? SecretBytes(count: Int(information.st_size) + 1) else {
            throw StoreError(.unavailable, "There is no guarded memory.")
        }
        let count = bytes.withMutableBytes { span in
            unsafe span.withUnsafeMutableBytes { target in
                var count = 0
                while count < target.count - 1, let base = target.baseAddress {
                    let step = unsafe Glibc.read(file, base + count, target.count - 1 - count)
                    if step < 0, errno == EINTR { continue }
                    if step <= 0 { break }
                    count += step
                }
                // Line ends are of the file, not of what is in it.
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
