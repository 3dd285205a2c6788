internal import Sealing
internal import Vault

/// The environment of the child of `run`, put together in guarded memory.
struct ChildEnvironment {
    /// Names whose value the shell had set already, and kept.
    private(set) var keptFromShell: [String] = []
    /// Names whose value the shell had set, and lost (`--override`).
    private(set) var overridden: [String] = []
    /// `NAME=value` with a NUL behind it, each.
    private(set) var entries: [SecretSlice] = []

    /// Joins the environment this process was started with and the values.
    ///
    /// What names a passphrase's place is for this program alone and left out.
    ///
    /// - Parameter survivesFork: Whether it is for a program beside this one.
    init(
        inherited: [[UInt8]], values: [RevealedValue], overrides: Bool, survivesFork: Bool = false
    ) throws {
        let arena = SecretArena(survivesFork: survivesFork)
        let names = Set(values.map { Array($0.variable.name.utf8) })
        var taken: Set<[UInt8]> = []
        for entry in inherited {
            // An entry without a sign sets nothing.
            guard let equals = entry.firstIndex(of: 0x3D) else { continue }
            let name = Array(entry[..<equals])
            guard !name.starts(with: Array("ZG_ENV_PASSPHRASE_".utf8)) else { continue }
            if names.contains(name) {
                let text = String(decoding: name, as: UTF8.self)
                if overrides {
                    overridden.append(text)
                    continue
                }
                keptFromShell.append(text)
                taken.insert(name)
            }
            let bytes = entry + [0]
            entries.append(try bytes.withBytes { try arena.copy($0) })
        }
        for value in values where !taken.contains(Array(value.variable.name.utf8)) {
            entries.append(try Self.entry(value, in: arena))
        }
    }

    private static func entry(
        _ value: RevealedValue, in arena: SecretArena
    ) throws -> SecretSlice {
        let front = Array(value.variable.name.utf8) + [0x3D]
        let slice = try arena.allocate(count: front.count + value.value.count + 1)
        front.withBytes { front in
            slice.part(0..<front.byteCount).withMutableBytes { $0.copy(from: front) }
        }
        value.value.withBytes { bytes in
            slice.part(front.count..<front.count + bytes.byteCount)
                .withMutableBytes { $0.copy(from: bytes) }
        }
        return slice
    }

    /// Lends the entries as `execve` takes them: a null-terminated list.
    func withPointers<R>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        // The entries live as long as their arena, which this value keeps.
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
        for entry in entries {
            entry.withMutableBytes { bytes in
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe pointers.append(
                        buffer.baseAddress.map { unsafe $0.assumingMemoryBound(to: CChar.self) })
                }
            }
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { list in
            guard let start = list.baseAddress else { preconditionFailure("never empty") }
            return unsafe body(start)
        }
    }
}
