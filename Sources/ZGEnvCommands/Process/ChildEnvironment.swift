internal import Sealing

/// The environment for the program of `run`, in guarded memory.
struct ChildEnvironment {
    /// Names that keep the value of the shell.
    private(set) var keptFromShell: [String] = []
    /// Names whose value of the shell is replaced (`--override`).
    private(set) var overridden: [String] = []
    /// The entries `NAME=value`, each ended by a NUL.
    private let block: SecretSlice
    /// Total length of the entries, including their NULs.
    var byteCount: Int { block.count }
    /// The offset of each entry.
    private let starts: [Int]

    /// Merges the inherited environment, except `ZG_ENV_PASSPHRASE_…`, with the values.
    ///
    /// - Parameter values: Sorted by the bytes of their names, without duplicates.
    /// - Parameter survivesFork: Whether it is for a child process instead of `exec`.
    init(
        inherited: [[UInt8]], values: [RevealedValue], overrides: Bool, survivesFork: Bool = false
    ) throws {
        var starts: [Int] = []
        starts.reserveCapacity(inherited.count + values.count)
        var (keptEntries, byteCount) = ([Int](), 0)
        var keptPlaces: Set<Int> = []
        for (number, entry) in inherited.enumerated() {
            // An entry without `=` sets nothing.
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
        // One block for all: copying thousands of entries is faster than allocating each.
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

    /// Returns the values of the shell's environment that are passed on, by name.
    static func values(of inherited: [[UInt8]]) -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for entry in inherited where !entry.starts(with: "ZG_ENV_PASSPHRASE_".utf8) {
            guard let equals = entry.firstIndex(of: 0x3D),
                let name = String(validating: entry[..<equals], as: UTF8.self)
            else { continue }
            values[name] = Array(entry[(equals + 1)...])
        }
        return values
    }

    /// Returns the index of a name's value, or nil. A binary search, because there may be
    /// thousands of values.
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
        // Compares bytes, because String treats canonically equivalent names as equal.
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

    /// Passes the entries to `body` as the null-terminated list that `execve` takes.
    func withPointers<R>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        // The pointers are valid as long as the block, which this value keeps.
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
