internal import Glibc

/// Writing to an open descriptor, whole.
package enum DescriptorWriting {
    /// Writes all of `bytes`, in as many calls as that takes, and goes on after a signal.
    ///
    /// - Returns: Whether all was written; else `errno` says why not, and a part may be there.
    package static func writeAll(_ bytes: RawSpan, to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.byteCount {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: buffer[written...]).baseAddress,
                    buffer.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }
}
