internal import CLinux
internal import Glibc

/// Files that are written whole or not at all: a new one beside the path, which then takes its name.
package enum FileReplacement {
    /// What went wrong. The path is as it was, but for ``notConfirmed(_:)``.
    package enum Failure: Error, Equatable {
        /// No file could be made in the directory.
        case notMade(SystemError)
        /// The new file could not be written, or not be brought to the disk.
        case notWritten(SystemError)
        /// There is something at the path, which was not to be replaced.
        case exists
        /// The new file could not get the name.
        case notNamed(SystemError)
        /// The file is there, but the disk did not confirm its name.
        case notConfirmed(SystemError)

        /// What the kernel said.
        package var cause: SystemError {
            switch self {
            case .notMade(let error), .notWritten(let error), .notNamed(let error),
                .notConfirmed(let error):
                error
            case .exists: SystemError(EEXIST)
            }
        }
    }

    /// Writes a file.
    ///
    /// - Parameters:
    ///   - temporary: The name of the new file until it is whole, in the same directory. What has this name
    ///     already is not touched.
    ///   - permissions: Given as they are, whatever the umask, where the file system has any.
    ///   - replaces: Whether a file that is there may be replaced.
    ///   - durably: Whether it must be on the disk, with its name, before this returns.
    ///   - fill: Writes the new file, and looks whatever the name must wait for.
    /// - Throws: ``Failure``, and what `fill` throws; the new file is gone then.
    package static func write(
        to path: String, by temporary: String, permissions: UInt32 = 0o600, replaces: Bool,
        durably: Bool = true, _ fill: (OpenFile) throws -> Void
    ) throws {
        let temporary = "\(directory(of: path))/\(temporary)"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let file: OpenFile
        do throws(SystemError) {
            file = try OpenFile(temporary, flags, permissions: permissions)
        } catch {
            throw Failure.notMade(error)
        }
        do {
            try fill(file)
            // The umask may have taken some. File systems without permissions refuse to give any.
            if try file.facts().permissions != permissions,
                fchmod(file.descriptor, permissions) != 0, errno != EPERM, errno != ENOTSUP
            {
                throw Failure.notWritten(.last)
            }
            if durably { try file.synchronize() }
            let status =
                replaces ? unsafe rename(temporary, path) : unsafe zg_rename_new(temporary, path)
            guard status == 0 else {
                throw !replaces && errno == EEXIST ? Failure.exists : Failure.notNamed(.last)
            }
        } catch {
            unsafe unlink(temporary)
            throw (error as? SystemError).map(Failure.notWritten) ?? error
        }
        if durably { try confirmName(of: path) }
    }

    /// Brings the name of a file to the disk.
    ///
    /// - Throws: ``Failure/notConfirmed(_:)``.
    package static func confirmName(of path: String) throws(Failure) {
        do throws(SystemError) {
            let directory = try OpenFile(directory(of: path), O_RDONLY | O_DIRECTORY)
            do throws(SystemError) {
                try directory.synchronize()
            } catch  where error.number == EINVAL {
                // Some file systems have no such call for directories; those that do say what failed.
            }
        } catch {
            throw .notConfirmed(error)
        }
    }

    /// The directory that a path is in: `.` for a name alone.
    package static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
