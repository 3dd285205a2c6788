internal import Glibc

/// An open file descriptor, closed on deinit.
package final class OpenFile {
    /// -1 after ``close()``.
    package private(set) var descriptor: Int32

    /// Opens a path. Child processes do not inherit the descriptor.
    ///
    /// - Parameters:
    ///   - flags: The flags of open(2); O_CLOEXEC is added.
    ///   - permissions: The mode of a new file.
    package init(
        _ path: String, _ flags: Int32, permissions: UInt32 = 0o600
    ) throws(SystemError) {
        let opened = unsafe open(path, flags | O_CLOEXEC, permissions)
        guard opened >= 0 else { throw .last }
        descriptor = opened
    }

    /// Takes ownership of an open descriptor.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
    }

    /// Closes the descriptor and reports errors: a network file system may report only now that it
    /// is full.
    package func close() throws(SystemError) {
        let status = Glibc.close(descriptor)
        descriptor = -1
        guard status == 0 || errno == EINTR else { throw .last }
    }

    /// Duplicates the descriptor to a number of at least `lowest`.
    package func duplicate(notBelow lowest: Int32) throws(SystemError) -> OpenFile {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest)
        guard copy >= 0 else { throw .last }
        return OpenFile(owning: copy)
    }

    /// Returns the current metadata.
    package func facts() throws(SystemError) -> FileFacts {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
        return FileFacts(status)
    }

    /// Writes all of `bytes`, retrying after short writes and signals. After an error, part of them
    /// may be written.
    package func write(_ bytes: RawSpan) throws(SystemError) {
        var written = 0
        while written < bytes.byteCount {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: buffer[written...]).baseAddress,
                    buffer.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .last }
            written += count
        }
    }

    /// Reads until `bytes` is full or the file ends, retrying after signals.
    ///
    /// - Parameter offset: Where to start; nil to continue at the file position.
    /// - Returns: The number of bytes read.
    package func read(
        at offset: UInt64? = nil, into bytes: inout MutableRawSpan
    ) throws(SystemError) -> Int {
        var (done, failure) = (0, SystemError?.none)
        unsafe bytes.withUnsafeMutableBytes { buffer in
            while done < buffer.count {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let got =
                    if let offset {
                        unsafe pread(
                            descriptor, rest.baseAddress, rest.count, off_t(clamping: offset) + done
                        )
                    } else {
                        unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
                    }
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = .last }
                guard got > 0 else { return }
                done += got
            }
        }
        if let failure { throw failure }
        return done
    }

    /// Reads as ``read(at:into:)`` does.
    ///
    /// - Returns: At most `count` bytes, and fewer only at the end of the file.
    package func bytes(
        at offset: UInt64? = nil, upTo count: Int
    ) throws(SystemError) -> [UInt8] {
        if count == 0 { return [] }
        var failure: SystemError?
        // Uninitialized, because most files are far shorter than their limit.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            var span = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(buffer))
            do throws(SystemError) {
                done = try read(at: offset, into: &span)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Syncs the file to disk.
    package func synchronize() throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw .last }
    }

    /// Reads a whole file without secrets.
    ///
    /// - Parameters:
    ///   - limit: The maximum size in bytes.
    ///   - waits: Whether to wait for the writer of a pipe; otherwise an empty pipe cannot be read.
    /// - Returns: nil if the file cannot be read or is too large.
    package static func wholeBytes(
        of path: String, limit: Int, waits: Bool = false
    ) -> [UInt8]? {
        guard let file = try? OpenFile(path, O_RDONLY | (waits ? 0 : O_NONBLOCK)) else {
            return nil
        }
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let piece = min(limit + 1 - bytes.count, 64 << 10)
            guard let read = try? file.bytes(upTo: piece) else { return nil }
            bytes += read
            if read.count < piece { return bytes.count <= limit ? bytes : nil }
        }
        return nil
    }
}
