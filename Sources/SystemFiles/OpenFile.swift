internal import Glibc

/// An open descriptor, closed when this goes.
package final class OpenFile {
    /// The kernel's number of it; -1 after ``close()``.
    package private(set) var descriptor: Int32

    /// Opens a path. Programs that this one starts do not get it.
    ///
    /// - Parameters:
    ///   - flags: Those of open(2), but for O_CLOEXEC, which is added.
    ///   - permissions: Of a file that is made; its owner's alone.
    package init(
        _ path: String, _ flags: Int32, permissions: UInt32 = 0o600
    ) throws(SystemError) {
        let opened = unsafe open(path, flags | O_CLOEXEC, permissions)
        guard opened >= 0 else { throw .last }
        descriptor = opened
    }

    /// Takes over an open descriptor.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
    }

    /// Closes it where that may fail: a file system over the network may say only now that there is no room.
    package func close() throws(SystemError) {
        let status = Glibc.close(descriptor)
        descriptor = -1
        guard status == 0 || errno == EINTR else { throw .last }
    }

    /// Another descriptor of the same open file, with a number of at least `lowest`.
    package func duplicate(notBelow lowest: Int32) throws(SystemError) -> OpenFile {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest)
        guard copy >= 0 else { throw .last }
        return OpenFile(owning: copy)
    }

    /// What the kernel says of it now.
    package func facts() throws(SystemError) -> FileFacts {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
        return FileFacts(status)
    }

    /// Writes all of `bytes`, in as many calls as that takes, and goes on after a signal. A part may be there
    /// after an error.
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

    /// Reads until `bytes` is full or the file ends, and goes on after a signal.
    ///
    /// - Parameter offset: Where to begin; nil to go on where the last call without one ended.
    /// - Returns: How many bytes were read.
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
    /// - Returns: At most `count` bytes; fewer only at the end of the file.
    package func bytes(
        at offset: UInt64? = nil, upTo count: Int
    ) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        // Room that is not filled: nearly all of these files are shorter than they may be.
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

    /// Brings what was written to the disk.
    package func synchronize() throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw .last }
    }

    /// The whole of a file that holds no secret.
    ///
    /// - Parameters:
    ///   - limit: Most bytes that it may have.
    ///   - waits: Whether to wait for whoever writes into a pipe; else one that is empty cannot be read.
    /// - Returns: nil where it cannot be read or is longer.
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
