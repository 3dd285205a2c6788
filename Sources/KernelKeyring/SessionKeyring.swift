internal import CLinux
internal import Glibc

/// The keyring of this login.
enum SessionKeyring {
    /// The login's own session keyring.
    ///
    /// Where a login has none, the kernel lends the one that all processes of the uid share, or with
    /// the first link a new one that goes with this process: neither is a session.
    ///
    /// - Throws: ``KernelKeyringError/Code/noSession`` there,
    ///   ``KernelKeyringError/Code/sessionEnded`` where it was revoked: after logout, in a terminal
    ///   multiplexer that lived on.
    static func own() throws(KernelKeyringError) -> KernelKey {
        let serial = zg_keyring_serial(Int32(ZG_SESSION_KEYRING))
        guard serial > 0 else {
            let number = errno
            switch number {
            case EKEYREVOKED, EKEYEXPIRED, ENOKEY:
                throw KernelKeyringError(
                    .sessionEnded,
                    "the session keyring of this terminal has ended with the login it belonged to")
            default: throw KernelKeyringError(number: number, call: "session keyring")
            }
        }
        guard serial != zg_keyring_serial(Int32(ZG_USER_SESSION_KEYRING)) else {
            throw KernelKeyringError(.noSession, "this login has no session keyring of its own")
        }
        return KernelKey(serial: serial)
    }
}
