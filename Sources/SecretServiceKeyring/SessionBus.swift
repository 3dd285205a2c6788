import Glibc
internal import SystemFiles

/// Locates the session bus.
package enum SessionBus {
    /// Returns the address of a running session bus, or nil.
    ///
    /// Drops addresses that would start a bus (`autolaunch:`): a new bus would have no keyring, and
    /// would keep running.
    ///
    /// - Parameters:
    ///   - configured: The value of `DBUS_SESSION_BUS_ADDRESS`, or nil.
    ///   - runtimeDirectory: The value of `XDG_RUNTIME_DIR`, or nil. The bus of a systemd session
    ///     is the socket `bus` there. Used only if nothing is configured.
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

    /// Escapes a path as the D-Bus specification requires ("Server Addresses").
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
