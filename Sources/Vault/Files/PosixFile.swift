internal import Glibc
internal import SystemFiles

/// A vault file open for reading, checked after opening rather than by its name.
final class PosixFile: ReadableFile {
    private let file: OpenFile
    let byteCount: UInt64
    let risk: String?

    var descriptor: Int32 { file.descriptor }

    /// Opens `path`, which must be a regular file owned by the user and inaccessible to others.
    ///
    /// - Parameter isCopy: Accepts any regular file, since a backup may be on a disk without
    ///   owners.
    init(opening path: String, isCopy: Bool = false) throws(VaultError) {
        let following = isCopy ? 0 : O_NOFOLLOW
        let file = try SystemError.mapped(try OpenFile(path, O_RDONLY | O_NONBLOCK | following)) {
            Self.failure($0, path, isCopy)
        }
        let facts = try SystemError.mapped(try file.facts()) { Self.failure($0, path, isCopy) }
        let objection = isCopy && facts.kind == .regular ? nil : Self.objection(to: facts, at: path)
        if let objection { throw objection }
        self.file = file
        byteCount = facts.byteCount
        risk = nil
    }

    /// Opens a regular file with any owner and permissions. Follows one symbolic link, as Kubernetes
    /// and stow make them, but not a chain of them.
    init(reading path: String) throws(VaultError) {
        let target = SymbolicLink.target(of: path) ?? path
        let file = try SystemError.mapped(
            try OpenFile(target, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
        ) { Self.failure($0, path, false) }
        let facts = try SystemError.mapped(try file.facts()) { Self.failure($0, path, false) }
        guard facts.kind == .regular else {
            throw VaultError(.insecure, "\(path) is not a regular file")
        }
        self.file = file
        byteCount = facts.byteCount
        risk = Self.risk(facts, at: target, through: path)
    }

    private static func risk(
        _ facts: FileFacts, at path: String, through link: String
    ) -> String? {
        let shared = [path, link].map(FileReplacement.directory).first {
            (try? FileFacts($0)).map(isShared) == true
        }
        let who: String? =
            if !facts.isOwn {
                "\(path) belongs to another user, who"
            } else if facts.permissions & 0o022 != 0 {
                "Other users can write to \(path), and"
            } else if let shared {
                "Other users can write to \(shared), and"
            } else { nil }
        return who.map { "\($0) can delete the vault or put an older copy in its place." }
    }

    private static func isShared(_ directory: FileFacts) -> Bool {
        directory.permissions & 0o022 != 0 && directory.permissions & S_ISVTX == 0
    }

    private static func failure(
        _ error: SystemError, _ path: String, _ isCopy: Bool
    ) -> VaultError {
        if error.number == ELOOP {
            return VaultError(
                .insecure,
                "\(path) is a symbolic link; only for reading, and only one link, is followed")
        }
        guard error.isNotFound else { return systemFailure("cannot open \(path)", error) }
        return VaultError(
            .notFound, isCopy ? "\(path) does not exist" : "there is no vault at \(path)")
    }

    private static func objection(to facts: FileFacts, at path: String) -> VaultError? {
        guard facts.kind == .regular else {
            return VaultError(.insecure, "\(path) is not a regular file")
        }
        guard facts.isOwn else {
            return VaultError(.insecure, "\(path) belongs to another user")
        }
        guard !facts.isAccessibleToOthers else {
            return VaultError(
                .insecure, "\(path) can be opened by other users",
                remedy: .init(command: "chmod 600", path: path))
        }
        let directory = FileReplacement.directory(of: path)
        guard let parent = try? FileFacts(directory) else {
            return VaultError(.insecure, "cannot inspect \(directory)")
        }
        guard !isShared(parent) else {
            return VaultError(
                .insecure, "other users can write to \(directory)",
                remedy: .init(command: "chmod go-w", path: directory))
        }
        return nil
    }

    func read(at offset: UInt64, count: Int) throws(VaultError) -> [UInt8] {
        try expect(count, at: offset)
        let bytes = try SystemError.mapped(try file.bytes(at: offset, upTo: count), Self.unreadable)
        guard bytes.count == count else { throw Self.truncated }
        return bytes
    }

    func read(at offset: UInt64, into bytes: inout MutableRawSpan) throws(VaultError) {
        try expect(bytes.byteCount, at: offset)
        let count: Int
        do throws(SystemError) {
            count = try file.read(at: offset, into: &bytes)
        } catch {
            throw Self.unreadable(error)
        }
        guard count == bytes.byteCount else { throw Self.truncated }
    }

    private func expect(_ count: Int, at offset: UInt64) throws(VaultError) {
        guard offset <= byteCount, UInt64(count) <= byteCount - offset else { throw Self.truncated }
    }

    private static func unreadable(_ error: SystemError) -> VaultError {
        systemFailure("cannot read the vault", error)
    }

    private static var truncated: VaultError {
        VaultError(damaged: .truncated, "the vault is shorter than its header says")
    }
}
