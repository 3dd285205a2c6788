internal import SystemFiles

/// Small files that hold no secret, such as those below /proc.
enum SmallFile {
    /// The file's text, at most 64 KiB of it; nil when it cannot be read or is not UTF-8.
    static func text(_ path: String) -> String? {
        bytes(path).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The file's bytes, at most 64 KiB; nil when it cannot be read or is longer.
    static func bytes(_ path: String) -> [UInt8]? {
        OpenFile.wholeBytes(of: path, limit: 64 << 10)
    }
}
