internal import Glibc
internal import Sealing
internal import SystemFiles
internal import Vault

/// Sealed answers as files of one directory, which and whose files are the user's alone.
///
/// Writers put a new file beside the old one and rename it over it; readers take no lock. Nothing is
/// brought to the disk by force: what a loss of power leaves half written does not open, and goes.
package final class PosixAnswerStore: AnswerStore {
    private let path: String
    private var directory: Int32?

    /// - Parameter path: The directory; made when something is first written.
    package init(path: String) {
        self.path = path
    }

    deinit {
        if let directory { close(directory) }
    }

    private static let temporaryPrefix = ".tmp-"

    package func read(_ name: String) -> [UInt8]? {
        guard Self.isName(name), let directory = try? opened(making: false) else { return nil }
        let descriptor = unsafe openat(
            directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
            status.st_size <= AnswerPolicy.answerByteLimit
        else { return [] }
        var bytes = [UInt8](repeating: 0, count: max(Int(status.st_size), 0))
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(
                    descriptor,
                    UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).baseAddress,
                    buffer.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return Array(bytes.prefix(done)) }
            done += count
        }
        return bytes
    }

    package func write(_ bytes: [UInt8], to name: String) throws(AnswerStoreError) {
        guard Self.isName(name), let directory = try opened(making: true) else {
            throw AnswerStoreError("\(path) cannot be opened")
        }
        let temporary = Self.temporaryPrefix + Identifier.random().hexadecimal
        let descriptor = unsafe openat(
            directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw problem("no file can be made in \(path)") }
        do throws(AnswerStoreError) {
            let file = OpenFile(owning: descriptor)
            guard (try? bytes.withBytes({ try file.write($0) })) != nil else {
                throw problem("a file of \(path) cannot be written")
            }
            guard unsafe renameat(directory, temporary, directory, name) == 0 else {
                throw problem("a file of \(path) cannot be replaced")
            }
        } catch {
            unsafe unlinkat(directory, temporary, 0)
            throw error
        }
    }

    package func remove(_ name: String) throws(AnswerStoreError) {
        guard Self.isName(name) || name.hasPrefix(Self.temporaryPrefix), !name.contains("/"),
            let directory = try opened(making: false)
        else { return }
        guard unsafe unlinkat(directory, name, 0) != 0, errno != ENOENT else { return }
        // A directory in the place of a file is nobody's answer either.
        if errno == EISDIR || errno == EPERM,
            unsafe unlinkat(directory, name, AT_REMOVEDIR) == 0
        {
            return
        }
        throw problem("a file of \(path) cannot be removed")
    }

    package func files() throws(AnswerStoreError) -> [AnswerPolicy.File] {
        guard let directory = try opened(making: false) else { return [] }
        let copy = unsafe openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            if copy >= 0 { close(copy) }
            throw problem("\(path) cannot be read")
        }
        defer { unsafe closedir(stream) }
        var files: [AnswerPolicy.File] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let isTemporary = name.hasPrefix(Self.temporaryPrefix)
            guard isTemporary || Self.isName(name) else { continue }
            var status = stat()
            guard unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                continue
            }
            let written = status.st_mtim
            files.append(
                .init(
                    name: name, byteCount: Int(clamping: status.st_size),
                    writtenAt: UInt64(max(written.tv_sec, 0)) &* 1_000
                        &+ UInt64(max(written.tv_nsec, 0)) / 1_000_000,
                    isUnfinished: isTemporary))
        }
        return files
    }

    /// Answers have names of 64 hexadecimal digits; whatever else lies there is not ours.
    private static func isName(_ name: String) -> Bool {
        name.utf8.count == 64
            && name.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    /// The directory, opened once and judged by what was opened; nil where there is none.
    private func opened(making: Bool) throws(AnswerStoreError) -> Int32? {
        if let directory { return directory }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        var descriptor = unsafe open(path, flags)
        if descriptor < 0, errno == ENOENT {
            guard making else { return nil }
            do throws(VaultError) {
                try PosixFileStore().prepareDirectory(of: path + "/answer")
            } catch {
                throw AnswerStoreError(error.reason)
            }
            descriptor = unsafe open(path, flags)
        }
        if descriptor < 0, errno == ELOOP || errno == ENOTDIR {
            throw AnswerStoreError("\(path) is no directory of its own")
        }
        guard descriptor >= 0 else { throw problem("\(path) cannot be opened") }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            close(descriptor)
            throw AnswerStoreError("\(path) belongs to another user")
        }
        if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o700) != 0 {
            close(descriptor)
            throw AnswerStoreError("\(path) can be opened by other users")
        }
        directory = descriptor
        return descriptor
    }

    private func problem(_ what: String) -> AnswerStoreError {
        AnswerStoreError("\(what): \(unsafe String(cString: strerror(errno)))")
    }
}
