package import HTTPClient
package import JSON
package import Sealing

/// Writes JSON into guarded memory, so that a value to be sent is never anywhere else.
package typealias GuardedJSONWriter = JSONWriter<GuardedBytes>

extension GuardedBytes: ByteSink {
    /// - Throws: `OutputError.outOfMemory`.
    package func write(_ bytes: RawSpan) throws(OutputError) {
        do throws(SealingError) {
            try append(bytes)
        } catch {
            throw .outOfMemory
        }
    }

    /// Returns the JSON value that `write` writes.
    ///
    /// - Throws: What `write` throws, and `OutputError.outOfMemory`.
    package static func json(
        _ write: (inout GuardedJSONWriter) throws(OutputError) -> Void
    ) throws(OutputError) -> GuardedBytes {
        guard let bytes = try? GuardedBytes() else { throw .outOfMemory }
        var writer = GuardedJSONWriter(to: bytes)
        try write(&writer)
        return try writer.finish()
    }
}

extension JSONWriter where Sink: ~Copyable {
    /// Writes a member with a secret string.
    package mutating func member(_ name: String, _ secret: SecretSlice) throws(OutputError) {
        try self.name(name)
        try secret.withBytes { (bytes) throws(OutputError) in try string(utf8: bytes) }
    }
}
