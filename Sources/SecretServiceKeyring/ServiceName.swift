import Glibc
internal import SystemFiles

/// Display names of programs that provide the Secret Service.
enum ServiceName {
    static let unknown = "the Secret Service"

    /// Returns the name of a process, from its name in the kernel.
    static func name(ofProcess identifier: UInt32) -> String {
        // The kernel keeps 15 bytes, and appends a line feed.
        guard let bytes = OpenFile.wholeBytes(of: "/proc/\(identifier)/comm", limit: 64) else {
            return unknown
        }
        return name(ofCommand: String(decoding: bytes, as: UTF8.self))
    }

    /// Returns the display name for a kernel process name.
    static func name(ofCommand command: String) -> String {
        let command = command.prefix { $0 != "\n" }
        switch command {
        case "gnome-keyring-d", "gnome-keyring": return "gnome-keyring"
        case "keepassxc": return "KeePassXC"
        case "kwalletd5", "kwalletd6", "ksecretd": return "KWallet"
        case "oo7-daemon": return "oo7"
        default:
            let isPlain = command.utf8.allSatisfy { (0x21...0x7e).contains($0) }
            return isPlain && !command.isEmpty ? String(command) : unknown
        }
    }
}
