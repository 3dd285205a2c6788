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
        arena.reserve(
            inherited.reduce(0) { $0 + $1.count + 1 }
                + values.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 2 })
        // The shell's names are few, the vault's may be thousands. One that is no text is none of the
        // vault's.
        var given: [Int: [String]] = [:]
        for entry in inherited {
            guard let equals = entry.firstIndex(of: 0x3D),
                let name = String(validating: entry[..<equals], as: UTF8.self)
            else { continue }
            given[equals, default: []].append(name)
        }
        // By length: a look into a table costs more than all else of most values.
        let longest = given.keys.max() ?? 0
        let ofLength = (0...longest).map { given[$0] ?? [] }
        var names: Set<String> = []
        for place in values.indices {
            let name = values[place].name
            let count = name.utf8.count
            if count <= longest, !ofLength[count].isEmpty, ofLength[count].contains(name) {
                names.insert(name)
            }
        }
        var taken: Set<String> = []
        for entry in inherited {
            // An entry without a sign sets nothing.
            guard let equals = entry.firstIndex(of: 0x3D) else { continue }
            guard !entry.starts(with: "ZG_ENV_PASSPHRASE_".utf8) else { continue }
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
        for place in values.indices
        where taken.isEmpty || !taken.contains(values[place].name) {
            entries.append(
                try Self.entry(values[place].name, values[place].value, in: arena))
        }
    }

    private static func entry(
        _ name: String, _ value: SecretSlice, in arena: SecretArena
    ) throws -> SecretSlice {
        var name = name
        let count = name.utf8.count
        let slice = try arena.allocate(count: count + 1 + value.count + 1)
        slice.withMutableBytes { target in
            unsafe target.withUnsafeMutableBytes { target in
                name.withUTF8 { unsafe target.copyMemory(from: UnsafeRawBufferPointer($0)) }
                unsafe target[count] = 0x3D
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[(count + 1)...])
                value.withBytes { value in
                    unsafe value.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
                }
            }
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
