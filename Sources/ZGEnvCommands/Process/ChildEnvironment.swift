internal import Sealing

/// The environment of the child of `run`, put together in guarded memory.
struct ChildEnvironment {
    /// Names whose value the shell had set already, and kept.
    private(set) var keptFromShell: [String] = []
    /// Names whose value the shell had set, and lost (`--override`).
    private(set) var overridden: [String] = []
    /// `NAME=value` with a NUL behind it, one after the other.
    private let block: SecretSlice
    /// Bytes of the entries together, their NULs included.
    var byteCount: Int { block.count }
    /// Where each of them begins.
    private let starts: [Int]

    /// Joins the environment this process was started with and the values.
    ///
    /// What names a passphrase's place is for this program alone and left out.
    ///
    /// - Parameter values: By the bytes of their names, each once.
    /// - Parameter survivesFork: Whether it is for a program beside this one.
    init(
        inherited: [[UInt8]], values: [RevealedValue], overrides: Bool, survivesFork: Bool = false
    ) throws {
        var starts: [Int] = []
        starts.reserveCapacity(inherited.count + values.count)
        var (keptEntries, byteCount) = ([Int](), 0)
        var keptPlaces: Set<Int> = []
        for (number, entry) in inherited.enumerated() {
            // An entry without a sign sets nothing.
            guard let equals = entry.firstIndex(of: 0x3D) else { continue }
            guard !entry.starts(with: "ZG_ENV_PASSPHRASE_".utf8) else { continue }
            if let place = Self.place(of: entry[..<equals], in: values) {
                if overrides {
                    overridden.append(values[place].name)
                    continue
                }
                keptFromShell.append(values[place].name)
                keptPlaces.insert(place)
            }
            keptEntries.append(number)
            starts.append(byteCount)
            byteCount += entry.count + 1
        }
        var added: [Int] = []
        added.reserveCapacity(values.count)
        for place in values.indices where keptPlaces.isEmpty || !keptPlaces.contains(place) {
            added.append(place)
            starts.append(byteCount)
            byteCount += values[place].name.utf8.count + values[place].value.count + 2
        }
        self.starts = starts
        // One stretch for all of them: thousands are copied faster than thousands are made.
        let arena = SecretArena(
            firstRegionByteCount: byteCount, survivesFork: survivesFork, zeroed: false)
        block = try arena.allocate(count: byteCount)
        block.withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { target in
                for (number, start) in zip(keptEntries, starts) {
                    unsafe Self.put(inherited[number], into: target, at: start)
                }
                for (place, start) in zip(added, starts[keptEntries.count...]) {
                    unsafe Self.put(
                        values[place].name, values[place].value, into: target, at: start)
                }
            }
        }
    }

    /// Where the value of that name is; nil where there is none. By halves: the shell's names are few, and
    /// the vault's may be thousands.
    private static func place(of name: ArraySlice<UInt8>, in values: [RevealedValue]) -> Int? {
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if values[middle].name.utf8.lexicographicallyPrecedes(name) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        // By bytes: strings are equal that only look the same.
        return low < values.count && values[low].name.utf8.elementsEqual(name) ? low : nil
    }

    private static func put(
        _ entry: [UInt8], into target: UnsafeMutableRawBufferPointer, at start: Int
    ) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<start + entry.count])
            .copyBytes(from: entry)
        unsafe target[start + entry.count] = 0
    }

    private static func put(
        _ name: String, _ value: SecretSlice, into target: UnsafeMutableRawBufferPointer,
        at start: Int
    ) {
        var name = name
        let equals = start + name.utf8.count
        name.withUTF8 {
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[start..<equals])
                .copyMemory(from: UnsafeRawBufferPointer($0))
        }
        unsafe target[equals] = 0x3D
        let rest = unsafe UnsafeMutableRawBufferPointer(
            rebasing: target[(equals + 1)..<(equals + 1 + value.count)])
        value.withBytes { value in
            unsafe value.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
        }
        unsafe target[equals + 1 + value.count] = 0
    }

    /// Lends the entries as `execve` takes them: a null-terminated list.
    func withPointers<R>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        // The block lives as long as its arena, which this value keeps.
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
        unsafe pointers.reserveCapacity(starts.count + 1)
        block.withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                for start in starts {
                    unsafe pointers.append((base + start).assumingMemoryBound(to: CChar.self))
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
