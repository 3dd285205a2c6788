internal import Glibc
internal import JSON
internal import PostalProtocol
internal import Sealing
internal import SystemFiles

/// A file with `{"account":"team_…","secret":"…"}`; the secret never leaves guarded memory.
enum HookFile {
    private static let byteLimit = 4_096

    /// Reads a file; nil if it is unreadable or malformed.
    static func read(_ path: String) -> HookSecrets.Hook? {
        guard let file = try? OpenFile(path, O_RDONLY | O_NONBLOCK),
            (try? file.facts().kind) == .regular,
            var bytes = try? SecretBytes(count: byteLimit),
            let count = try? bytes.withMutableBytes({ try file.read(into: &$0) })
        else { return nil }
        return bytes.withBytes { hook(of: $0.extracting(first: count)) }
    }

    /// Parses a file; nil for other members.
    static func hook(of text: RawSpan) -> HookSecrets.Hook? {
        try? JSONTree.read(text) { tree in
            var (account, secret) = ("", -1)
            var isKnown = tree.kind(0) == .object
            try tree.forEachMember(of: 0) { name, value in
                switch try tree.text(name) {
                case "account": account = try tree.text(value)
                case "secret": secret = value
                default: isKnown = false
                }
                return isKnown
            }
            var bytes = try SecretBuffer(capacity: byteLimit)
            // A byte that does not fit would change the secret.
            var hasRoom = true
            let isWhole = tree.forEachByte(ofText: secret) { byte in
                hasRoom = hasRoom && (try? bytes.append(byte)) != nil
            }
            guard isKnown, isWhole, hasRoom, bytes.count > 0, PostalName.isAccount(account) else {
                throw JSONError.malformed
            }
            return HookSecrets.Hook(
                account: account, secret: try bytes.withBytes { try SecretBytes(copying: $0) })
        }
    }
}
