internal import Glibc

package enum Directory {
    /// Lists all names but `.` and `..`, unsorted, as raw bytes.
    ///
    /// - Returns: The names that could be read, and the error that stopped the listing, if any.
    package static func names(
        in directory: borrowing OpenFile
    ) -> (names: [[UInt8]], error: SystemError?) {
        // `closedir` closes the descriptor of its stream.
        let copy = unsafe openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            let error = SystemError.last
            if copy >= 0 { close(copy) }
            return ([], error)
        }
        defer { unsafe closedir(stream) }
        // An entry ends with its name, so that not all 256 bytes of `d_name` need to be there.
        guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else {
            return ([], SystemError(ENOSYS))
        }
        var names: [[UInt8]] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let bytes = unsafe UnsafeRawBufferPointer(
                start: entry, count: Int(entry.pointee.d_reclen))
            let name = unsafe Array(bytes.dropFirst(start).prefix { $0 != 0 })
            if name != [0x2E], name != [0x2E, 0x2E] { names.append(name) }
        }
        return (names, errno == 0 ? nil : .last)
    }

    /// Lists the names as text. Returns an empty list if the directory cannot be read.
    package static func names(in path: String) -> [String] {
        guard let directory = try? OpenFile(path, O_RDONLY | O_DIRECTORY) else { return [] }
        return names(in: directory).names.map { String(decoding: $0, as: UTF8.self) }
    }
}
