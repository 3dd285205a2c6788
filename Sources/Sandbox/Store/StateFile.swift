internal import Glibc
internal import JSON

/// The file that keeps a sandbox's state.
struct StateFile: Sendable {
    private struct Envelope: Codable {
        var format: Int
        var state: SandboxState
    }

    private static let format = 1
    let path: String

    /// The kept state; `nil` when there is no file yet.
    func read() throws(SandboxError) -> SandboxState? {
        guard unsafe access(path, F_OK) == 0 else { return nil }
        guard let bytes = FileBytes.read(path, maximum: 1 << 30),
            let envelope = try? JSONDecoder().decode(Envelope.self, from: bytes),
            envelope.format == Self.format
        else {
            throw SandboxError(
                code: .stateUnreadable, reason: "The state file \(path) cannot be read.")
        }
        return envelope.state
    }

    /// Replaces the file as a whole; only its owner may read it.
    func write(_ state: SandboxState) throws(SandboxError) {
        let envelope = Envelope(format: Self.format, state: state)
        guard let bytes = try? JSONEncoder().encode(envelope), FileBytes.replace(path, with: bytes)
        else {
            throw SandboxError(
                code: .stateUnwritable, reason: "The state file \(path) cannot be written.")
        }
    }
}

/// Whole files as bytes.
package enum FileBytes {
    /// The bytes of a file; `nil` when it cannot be read or has more than `maximum` bytes.
    package static func read(_ path: String, maximum: Int) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { room in
                unsafe Glibc.read(file, room.baseAddress, room.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0, bytes.count + count <= maximum else { return nil }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Writes a new file beside the old one, syncs it and renames it over the old one; mode 0600.
    static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let new = path + ".new"
        unsafe unlink(new)
        let file = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        var isWritten = unsafe bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = unsafe Glibc.write(
                    file, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
        isWritten = isWritten && fdatasync(file) == 0
        isWritten = close(file) == 0 && isWritten
        guard isWritten, unsafe rename(new, path) == 0 else {
            unsafe unlink(new)
            return false
        }
        return true
    }
}
