internal import SystemFiles

/// Reads small files without secrets, such as those below /proc.
enum SmallFile {
    /// Returns the file's text; nil if it is longer than 64 KiB, unreadable or not UTF-8.
    static func text(_ path: String) -> String? {
        bytes(path).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Returns the file's bytes; nil if it is longer than 64 KiB or unreadable.
    static func bytes(_ path: String) -> [UInt8]? {
        OpenFile.wholeBytes(of: path, limit: 64 << 10)
    }
}
