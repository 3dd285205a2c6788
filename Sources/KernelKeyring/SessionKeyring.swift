internal import CLinux
internal import Glibc

enum SessionKeyring {
    /// Returns the login's own session keyring.
    ///
    /// Without one, the kernel substitutes the keyring shared by all processes of the uid or, for
    /// the first link, a new one that ends with this process. Neither is a session.
    ///
    /// - Throws: ``KernelKeyringError/Code/noSession`` in that case,
    ///   ``KernelKeyringError/Code/sessionEnded`` if it was revoked: after logout, in a terminal
    ///   multiplexer that kept running.
    static func own() throws(KernelKeyringError) -> KernelKey {
        let serial = zg_keyring_serial(Int32(ZG_SESSION_KEYRING))
        guard serial > 0 else {
            let number = errno
            switch number {
            case EKEYREVOKED, EKEYEXPIRED, ENOKEY:
                throw KernelKeyringError(
                    .sessionEnded,
                    "this terminal's session keyring is gone: its login session has ended")
            default: throw KernelKeyringError(number: number, call: "session keyring")
            }
        }
        guard serial != zg_keyring_serial(Int32(ZG_USER_SESSION_KEYRING)) else {
            throw KernelKeyringError(
                .noSession, "this login session has no session keyring of its own")
        }
        return KernelKey(serial: serial)
    }
}
