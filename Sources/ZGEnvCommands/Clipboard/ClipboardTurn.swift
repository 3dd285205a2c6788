internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// Whose turn it is to empty a clipboard. Where one value is copied twice, the hash alone would have the
/// first copy's process empty what the second one has put there.
///
/// A file of the state directory for each screen holds the mark of the last copy. It is locked while
/// something is copied or emptied, and has nothing of the value in it.
final class ClipboardTurn {
    /// Longer than any one use of a clipboard takes.
    private static let limit: Duration = .seconds(30)

    private let lock: FileLock

    /// Waits until nobody else uses the clipboard; nil where that cannot be had. Then the hash decides
    /// alone, and a value goes rather too early than never.
    init?(at path: String) {
        guard let lock = try? FileLock(path),
            (try? lock.lock(within: Self.limit, pauses: 20_000...20_000)) == true
        else { return nil }
        self.lock = lock
    }

    /// The file for a clipboard; nil where there is no place for it.
    static func path(_ program: ClipboardProgram, _ context: Context) -> String? {
        guard let state = try? Directories(context).state else { return nil }
        let names = program == .wlCopy ? ["WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"] : ["DISPLAY"]
        let screen = names.map { "\($0)=\(context.variable($0) ?? "")" }.joined(separator: "\n")
        let digest = Array(screen.utf8).withBytes { Digest.checksum($0) }
        let path = "\(state)/clipboard-\(Identifier(digest.prefix(16))?.hexadecimal ?? "")"
        // Copying does not depend on it.
        return (try? context.files.prepareDirectory(of: path)).map { path }
    }

    /// Tells whether another copy came after that of `mark`.
    func isAnother(than mark: [UInt8]) -> Bool {
        let found = try? lock.file.bytes(at: 0, upTo: Digest.byteCount)
        return found?.count == Digest.byteCount && found != mark
    }

    /// Notes that the copy of `mark` is the last one, and tells whether that was done.
    func take(_ mark: [UInt8]) -> Bool {
        unsafe pwrite(lock.file.descriptor, mark, mark.count, 0) == mark.count
    }

    /// Forgets whose turn it is, where that could not be noted: the mark that is there would keep the
    /// last copy from being emptied.
    static func forget(_ path: String) { unsafe unlink(path) }
}
