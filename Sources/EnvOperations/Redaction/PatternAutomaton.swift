internal import Sealing

/// Finds many patterns in one pass over a text (Aho and Corasick), in guarded memory.
///
/// States are numbered in the order in which patterns were added, so that a state and the next one
/// are mostly neighbours: a byte, a flag and the state to go back to are all that is kept of most.
@safe
final class PatternAutomaton {
    /// What is special about a state.
    private enum Flag {
        /// It does not follow the state with the number before.
        static let startsChain: UInt8 = 1
        /// A pattern ends here.
        static let ends: UInt8 = 2
        /// A pattern ends here that begins later.
        static let endsWithin: UInt8 = 4
        /// Further states follow than the neighbour.
        static let branches: UInt8 = 8
    }

    /// The state before anything was seen.
    static let root: Int32 = 0

    private let arena = SecretArena()
    private let byteStore: SecretSlice
    private let flagStore: SecretSlice
    private let failureStore: SecretSlice
    private let branchStore: SecretSlice
    private let branchMask: Int
    private let bytes: UnsafeMutablePointer<UInt8>
    private let flags: UnsafeMutablePointer<UInt8>
    /// The state of the longest end of what was seen that begins a pattern too.
    private let failures: UnsafeMutablePointer<Int32>
    /// Open addressing: state and byte in one number, then the state that follows.
    private let branches: UnsafeMutablePointer<Int64>
    private var count: Int32 = 1
    /// Where runs of neighbours start, and how many bytes were seen there.
    private var chainStarts: [Int32] = []
    private var chainDepths: [Int32] = []
    private var chainParents: [Int32] = []

    /// Whether there is nothing to find.
    var isEmpty: Bool { count == 1 }

    init(_ patterns: [SecretSlice]) throws(SealingError) {
        let total = patterns.reduce(1) { $0 + $1.count }
        guard total < Int(Int32.max) else { throw .outOfMemory }
        // Each pattern adds one branch at most. The root has a table of its own at the front.
        var slots = 16
        while slots < 2 * patterns.count { slots *= 2 }
        branchMask = slots - 1
        byteStore = try arena.allocate(count: total)
        flagStore = try arena.allocate(count: total)
        // Numbers stand where the processor wants them.
        failureStore = try Self.aligned(4 * total, in: arena)
        branchStore = try Self.aligned(8 * (256 + 2 * slots), in: arena)
        unsafe bytes = Self.pointer(byteStore, UInt8.self)
        unsafe flags = Self.pointer(flagStore, UInt8.self)
        unsafe failures = Self.pointer(failureStore, Int32.self)
        unsafe branches = Self.pointer(branchStore, Int64.self)
        for pattern in patterns where pattern.count > 0 { insert(pattern) }
        linkFailures()
    }

    private static func aligned(
        _ count: Int, in arena: SecretArena
    ) throws(SealingError) -> SecretSlice {
        let slice = try arena.allocate(count: count + 8)
        let address = slice.withMutableBytes { span in
            unsafe span.withUnsafeMutableBytes { Int(bitPattern: $0.baseAddress) }
        }
        let shift = (8 - address % 8) % 8
        return slice.part(shift..<shift + count)
    }

    /// The memory of a slice, which lives as long as the arena.
    private static func pointer<T>(_ slice: SecretSlice, _ type: T.Type) -> UnsafeMutablePointer<T>
    {
        unsafe slice.withMutableBytes { span in
            unsafe span.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { preconditionFailure("never empty") }
                return unsafe base.assumingMemoryBound(to: type)
            }
        }
    }

    // MARK: Building

    private func insert(_ pattern: SecretSlice) {
        pattern.withBytes { pattern in
            var state = Self.root
            var index = 0
            while index < pattern.byteCount {
                let next = follow(state, pattern.byte(at: index))
                if next == Self.root { break }
                state = next
                index += 1
            }
            var isFirst = true
            while index < pattern.byteCount {
                let byte = pattern.byte(at: index)
                let next = count
                count += 1
                unsafe bytes[Int(next)] = byte
                // The last state of all has no neighbour yet, and takes the new one for it.
                if isFirst, state == Self.root || state + 1 != next {
                    unsafe flags[Int(next)] = Flag.startsChain
                    addEdge(state, byte, next)
                    chainStarts.append(next)
                    chainDepths.append(Int32(index + 1))
                    chainParents.append(state)
                }
                isFirst = false
                state = next
                index += 1
            }
            unsafe flags[Int(state)] |= Flag.ends
        }
    }

    private func addEdge(_ state: Int32, _ byte: UInt8, _ next: Int32) {
        if state == Self.root {
            unsafe branches[Int(byte)] = Int64(next)
            return
        }
        unsafe flags[Int(state)] |= Flag.branches
        let key = Int64(state) << 8 | Int64(byte)
        var slot = Self.hash(key) & branchMask
        while unsafe branches[256 + 2 * slot] != 0 { slot = (slot + 1) & branchMask }
        unsafe branches[256 + 2 * slot] = key
        unsafe branches[256 + 2 * slot + 1] = Int64(next)
    }

    private static func hash(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15 >> 20)
    }

    /// The state after one more byte of a pattern, or the root if there is none.
    @inline(__always)
    private func follow(_ state: Int32, _ byte: UInt8) -> Int32 {
        if state == Self.root { return unsafe Int32(truncatingIfNeeded: branches[Int(byte)]) }
        let neighbour = state + 1
        if neighbour < count, unsafe bytes[Int(neighbour)] == byte,
            unsafe flags[Int(neighbour)] & Flag.startsChain == 0
        {
            return neighbour
        }
        guard unsafe flags[Int(state)] & Flag.branches != 0 else { return Self.root }
        let key = Int64(state) << 8 | Int64(byte)
        var slot = Self.hash(key) & branchMask
        while true {
            let found = unsafe branches[256 + 2 * slot]
            if found == key {
                return unsafe Int32(truncatingIfNeeded: branches[256 + 2 * slot + 1])
            }
            if found == 0 { return Self.root }
            slot = (slot + 1) & branchMask
        }
    }

    /// Finds the way back of every state, by the number of bytes seen.
    private func linkFailures() {
        let ends = chainStarts.dropFirst() + [count]
        let lengths = zip(chainStarts, ends).map { $1 - $0 }
        let order = chainStarts.indices.sorted { chainDepths[$0] < chainDepths[$1] }
        var active: [Int] = []
        var waiting = order[...]
        var depth: Int32 = 1
        while !active.isEmpty || !waiting.isEmpty {
            if active.isEmpty, let next = waiting.first { depth = max(depth, chainDepths[next]) }
            while let next = waiting.first, chainDepths[next] == depth {
                active.append(next)
                waiting = waiting.dropFirst()
            }
            active.removeAll { chain in
                let place = depth - chainDepths[chain]
                guard place < lengths[chain] else { return true }
                let state = chainStarts[chain] + place
                link(state, after: place == 0 ? chainParents[chain] : state - 1)
                return false
            }
            depth += 1
        }
    }

    private func link(_ state: Int32, after parent: Int32) {
        guard parent != Self.root else { return }
        let byte = unsafe bytes[Int(state)]
        var back = unsafe failures[Int(parent)]
        var target = follow(back, byte)
        while target == Self.root, back != Self.root {
            back = unsafe failures[Int(back)]
            target = follow(back, byte)
        }
        unsafe failures[Int(state)] = target
        if unsafe flags[Int(target)] & (Flag.ends | Flag.endsWithin) != 0 {
            unsafe flags[Int(state)] |= Flag.endsWithin
        }
    }

    // MARK: Searching

    /// The state after one more byte of a text.
    @inline(__always)
    func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        var state = state
        while true {
            let target = follow(state, byte)
            if target != Self.root || state == Self.root { return target }
            state = unsafe failures[Int(state)]
        }
    }

    /// Whether a pattern ends in a state.
    @inline(__always)
    func isMatch(_ state: Int32) -> Bool {
        unsafe flags[Int(state)] & (Flag.ends | Flag.endsWithin) != 0
    }

    /// Whether a state is one byte further than the one with the number before.
    @inline(__always)
    func isNeighbour(_ state: Int32) -> Bool {
        unsafe flags[Int(state)] & Flag.startsChain == 0
    }

    /// How many bytes of a pattern were seen in a state.
    func depth(of state: Int32) -> Int {
        if state == Self.root { return 0 }
        var (low, high) = (0, chainStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if chainStarts[middle] <= state { low = middle } else { high = middle }
        }
        return Int(chainDepths[low] + state - chainStarts[low])
    }

    /// The length of the longest pattern that ends in a state; 0 where none does.
    func longestMatch(in state: Int32) -> Int {
        var state = state
        while unsafe flags[Int(state)] & Flag.ends == 0 {
            guard unsafe flags[Int(state)] & Flag.endsWithin != 0 else { return 0 }
            state = unsafe failures[Int(state)]
        }
        return depth(of: state)
    }
}
