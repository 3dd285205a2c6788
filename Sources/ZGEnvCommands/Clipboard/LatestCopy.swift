internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// Records which copy was last, so that only its process clears the clipboard.
///
/// If one value is copied twice, the hash alone would let the first process clear the second copy.
/// A file in the state directory, one per display, holds the mark of the last copy and no part of
/// the value. It is locked while something is copied or cleared.
final class LatestCopy {
    /// Longer than any access to the clipboard takes.
    private static let limit: Duration = .seconds(30)

    private let lock: FileLock

    /// Waits for the lock; nil if that fails. Then only the hash decides, which may clear a value
    /// too early, but never leaves one behind.
    init?(at path: String) {
        guard let lock = try? FileLock(path),
            (try? lock.lock(within: Self.limit, pauses: 20_000...20_000)) == true
        else { return nil }
        self.lock = lock
    }

    /// Returns the file for a display; nil if it cannot be created.
    static func path(_ program: ClipboardProgram, _ context: Context) -> String? {
        guard let state = try? Directories(context).state else { return nil }
        let names = program == .wlCopy ? ["WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"] : ["DISPLAY"]
        let screen = names.map { "\($0)=\(context.variable($0) ?? "")" }.joined(separator: "\n")
        let digest = Array(screen.utf8).withBytes { Digest.checksum($0) }
        let path = "\(state)/clipboard-\(Identifier(digest.prefix(16))?.hexadecimal ?? "")"
        // Copying works without it.
        return (try? context.files.prepareDirectory(of: path)).map { path }
    }

    /// Returns whether another copy came after that of `mark`.
    func hasNewerCopy(than mark: [UInt8]) -> Bool {
        let found = try? lock.file.bytes(at: 0, upTo: Digest.byteCount)
        return found?.count == Digest.byteCount && found != mark
    }

    /// Records `mark` as the last copy and returns whether that worked.
    func take(_ mark: [UInt8]) -> Bool {
        unsafe pwrite(lock.file.descriptor, mark, mark.count, 0) == mark.count
    }

    /// Removes the file after a failed ``take(_:)``: its old mark would keep the last copy from
    /// being cleared.
    static func forget(_ path: String) { unsafe unlink(path) }
}
