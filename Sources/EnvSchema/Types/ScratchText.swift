internal import Glibc

/// A text made from a value, in memory that is wiped when the call that lends it ends.
@safe
struct ScratchText: ~Copyable {
    private let base: UnsafeMutableRawBufferPointer
    private var count = 0

    private init(_ base: UnsafeMutableRawBufferPointer) { unsafe self.base = unsafe base }

    /// Lends room for `capacity` bytes.
    static func lend<Result>(_ capacity: Int, _ body: (inout ScratchText) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(byteCount: max(capacity, 1), alignment: 1) { memory in
            var text = unsafe ScratchText(memory)
            defer {
                if let start = memory.baseAddress { unsafe explicit_bzero(start, memory.count) }
            }
            return body(&text)
        }
    }

    /// Appends a byte. Bytes beyond the capacity are dropped; nobody appends as many.
    mutating func append(_ byte: UInt8) {
        guard unsafe count < base.count else { return }
        unsafe base[count] = byte
        count += 1
    }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { append(byte) }
    }

    /// Passes a function that appends a byte.
    mutating func withAppending(_ body: ((UInt8) -> Void) -> Void) {
        let room = unsafe base
        var end = count
        body { byte in
            guard end < room.count else { return }
            unsafe room[end] = byte
            end += 1
        }
        count = end
    }

    /// The text so far. It must not be used after the text has been lent.
    var slice: ValueSlice {
        unsafe ValueSlice(UnsafeRawBufferPointer(rebasing: base[..<count]))
    }

    /// The text so far as a C string, or nil without room for the terminator.
    mutating func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result? {
        guard unsafe count < base.count, let start = unsafe base.baseAddress else { return nil }
        unsafe base[count] = 0
        return unsafe body(start.assumingMemoryBound(to: CChar.self))
    }
}
