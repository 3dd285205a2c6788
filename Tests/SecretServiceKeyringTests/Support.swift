import Foundation
import Sealing
import SecretServiceKeyring
import TestSupport
import Testing
import Vault

extension PrivateKeyring {
    /// A new connection to this keyring, as a new process would have.
    func connection(limit: Duration = .seconds(20)) -> SecretServiceKeyring {
        SecretServiceKeyring(busAddress: bus.address, limit: limit)
    }
}

extension KeyringItem {
    static func slotKey(_ identifier: String, of vault: Character = "a") -> KeyringItem {
        KeyringItem(
            vault: String(repeating: vault, count: 32), purpose: .slotKey, identifier: identifier)
    }
}

extension SecretServiceKeyring {
    /// The bytes of a test's secret.
    func bytes(for item: KeyringItem) throws(KeyringError) -> [UInt8]? {
        guard let secret = try secret(for: item) else { return nil }
        return secret.withBytes { span in (0..<span.byteCount).map { span.byte(at: $0) } }
    }

    func bytesWithoutAsking(for item: KeyringItem) throws(KeyringError) -> [UInt8]? {
        guard let secret = try secretWithoutPrompting(for: item, where: { _ in true }) else {
            return nil
        }
        return secret.withBytes { span in (0..<span.byteCount).map { span.byte(at: $0) } }
    }

    func store(_ bytes: [UInt8], for item: KeyringItem) throws {
        let secret = try bytes.withBytes { (span) throws(SealingError) in
            try SecretBytes(copying: span)
        }
        try store(secret, for: item)
    }
}

/// Expects `body` to throw a keyring error with this code.
func expectKeyringError<R>(
    _ code: KeyringError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> R
) {
    let error = #expect(throws: KeyringError.self, sourceLocation: sourceLocation) {
        _ = try body()
    }
    #expect(error?.code == code, "\(error?.reason ?? "")", sourceLocation: sourceLocation)
}

/// A socket that accepts connections and never replies.
final class SilentListener {
    let path: String
    private let socket: Int32

    init(path: String) throws {
        self.path = path
        socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: Array(path.utf8))
        }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, listen(socket, 16) == 0 else { throw SystemCallError("bind") }
    }

    deinit {
        close(socket)
    }
}
