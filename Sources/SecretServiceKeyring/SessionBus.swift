import Glibc
internal import SystemFiles

/// Where the session bus is.
package enum SessionBus {
    /// The address of the session bus that is already running, or nil where there is none.
    ///
    /// An address that would have a bus started (`autolaunch:`) is left out: a bus of our own would
    /// have no keyring on it, and would stay behind.
    ///
    /// - Parameters:
    ///   - configured: The value of `DBUS_SESSION_BUS_ADDRESS`, or nil.
    ///   - runtimeDirectory: The value of `XDG_RUNTIME_DIR`, or nil: the bus of a systemd session is
    ///     the socket `bus` there. Looked at only where nothing is configured.
    package static func address(configured: String?, runtimeDirectory: String?) -> String? {
        if let configured, !configured.isEmpty {
            let usable = configured.split(separator: ";").filter { !$0.hasPrefix("autolaunch:") }
            return usable.isEmpty ? nil : usable.joined(separator: ";")
        }
        guard let runtimeDirectory, runtimeDirectory.hasPrefix("/") else { return nil }
        let path = runtimeDirectory + "/bus"
        var information = stat()
        guard unsafe stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFSOCK,
            information.st_uid == geteuid()
        else { return nil }
        return "unix:path=" + escaped(path)
    }

    /// Escapes what has a meaning in an address, as the D-Bus specification says ("Server
    /// Addresses").
    private static func escaped(_ path: String) -> String {
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "*"):
                bytes.append(byte)
            default:
                let digits = Hexadecimal.digits(of: byte)
                bytes += [UInt8(ascii: "%"), digits.high, digits.low]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
