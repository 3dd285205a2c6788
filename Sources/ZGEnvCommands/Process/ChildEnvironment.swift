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
        let names = Set(values.map(\.name))
        var taken: Set<String> = []
        for entry in inherited {
            // An entry without a sign sets nothing.
            guard let equals = entry.firstIndex(of: 0x3D) else { continue }
            guard !entry.starts(with: "ZG_ENV_PASSPHRASE_".utf8) else { continue }
            // A name that is no text is none of the vault's.
            if let name = String(validating: entry[..<equals], as: UTF8.self),
                names.contains(name),
                // Strings are equal that only look the same.
                values.contains(where: { $0.name.utf8.elementsEqual(name.utf8) })
            {
                if overrides {
                    overridden.append(name)
                    continue
                }
                keptFromShell.append(name)
                taken.insert(name)
            }
            let bytes = entry + [0]
            entries.append(try bytes.withBytes { try arena.copy($0) })
        }
        entries.reserveCapacity(entries.count + values.count)
        for value in values where taken.isEmpty || !taken.contains(value.name) {
            entries.append(try Self.entry(value, in: arena))
        }
    }

    private static func entry(
        _ value: RevealedValue, in arena: SecretArena
    ) throws -> SecretSlice {
        var name = value.name
        let count = name.utf8.count
        let slice = try arena.allocate(count: count + 1 + value.value.count + 1)
        slice.withMutableBytes { target in
            unsafe target.withUnsafeMutableBytes { target in
                name.withUTF8 { unsafe target.copyMemory(from: UnsafeRawBufferPointer($0)) }
                unsafe target[count] = 0x3D
            }
        }
        value.value.withBytes { bytes in
            slice.part(count + 1..<count + 1 + bytes.byteCount)
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
