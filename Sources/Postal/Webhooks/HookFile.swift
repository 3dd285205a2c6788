internal import Glibc
internal import PostalProtocol
internal import Sealing
internal import SystemFiles

/// A file that holds `{"account":"team_…","secret":"…"}`, read without the secret leaving guarded memory.
enum HookFile {
    private static let byteLimit = 4_096

    /// The hook of a file; nil for what cannot be read, or has another form.
    static func read(_ path: String) -> HookSecrets.Hook? {
        guard let file = try? OpenFile(path, O_RDONLY | O_NONBLOCK),
            (try? file.facts().kind) == .regular,
            var bytes = try? SecretBytes(count: byteLimit),
            let count = try? bytes.withMutableBytes({ try file.read(into: &$0) })
        else { return nil }
        return bytes.withBytes { hook(of: $0.extracting(first: count)) }
    }

    /// The hook that a file's text describes.
    static func hook(of text: RawSpan) -> HookSecrets.Hook? {
        var scan = Scan(byteCount: text.byteCount)
        var (account, secret) = (Range<Int>?.none, Range<Int>?.none)
        guard scan.take("{", in: text) else { return nil }
        repeat {
            guard let name = scan.string(in: text), scan.take(":", in: text),
                let value = scan.string(in: text)
            else { return nil }
            switch Self.text(name, of: text) {
            case "account": account = value
            case "secret": secret = value
            default: return nil
            }
        } while scan.take(",", in: text)
        guard scan.take("}", in: text), scan.isAtEnd(of: text), let account, let secret,
            !secret.isEmpty
        else { return nil }
        let name = Self.text(account, of: text)
        guard PostalName.isAccount(name),
            let bytes = try? SecretBytes(copying: text.extracting(secret))
        else { return nil }
        return HookSecrets.Hook(account: name, secret: bytes)
    }

    /// Only for what is no secret.
    private static func text(_ range: Range<Int>, of text: RawSpan) -> String {
        String(decoding: range.map { text.byte(at: $0) }, as: UTF8.self)
    }

    /// A place in a text, which is lent anew with every step.
    private struct Scan {
        let byteCount: Int
        var position = 0

        private mutating func skipBlanks(in text: RawSpan) {
            while position < byteCount, [0x20, 0x0A, 0x0D, 0x09].contains(text.byte(at: position)) {
                position += 1
            }
        }

        mutating func take(_ sign: Unicode.Scalar, in text: RawSpan) -> Bool {
            skipBlanks(in: text)
            guard position < byteCount, text.byte(at: position) == UInt8(ascii: sign) else {
                return false
            }
            position += 1
            return true
        }

        mutating func isAtEnd(of text: RawSpan) -> Bool {
            skipBlanks(in: text)
            return position == byteCount
        }

        /// What stands between quotes. The platform's secrets and ids need no escapes, and a text that
        /// has one is not taken for another.
        mutating func string(in text: RawSpan) -> Range<Int>? {
            guard take("\"", in: text) else { return nil }
            let start = position
            while position < byteCount {
                switch text.byte(at: position) {
                case UInt8(ascii: "\""):
                    position += 1
                    return start..<(position - 1)
                case UInt8(ascii: "\\"), 0..<0x20: return nil
                default: position += 1
                }
            }
            return nil
        }
    }
}
