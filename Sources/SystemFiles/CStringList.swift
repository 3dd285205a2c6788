/// C string arrays for `exec` and `spawn`.
package enum CStringList {
    /// Passes a null-terminated array of null-terminated copies of `strings` to `body`.
    package static func with<R>(
        _ strings: [[UInt8]],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var storage = Array(strings.map { $0 + [0] }.joined())
        return unsafe storage.withUnsafeMutableBytes { buffer in
            var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
            var offset = 0
            for string in strings {
                unsafe pointers.append(
                    buffer.baseAddress.map {
                        unsafe ($0 + offset).assumingMemoryBound(to: CChar.self)
                    })
                offset += string.count + 1
            }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { list in
                guard let start = list.baseAddress else { preconditionFailure("not empty") }
                return unsafe body(start)
            }
        }
    }
}
