internal import Sealing

/// Finds many patterns in one pass over a text (Aho-Corasick), in guarded memory. Reads each byte
/// once, and knows after each one what may be the start of a pattern.
///
/// States are numbered in the order of insertion, so that most states are followed by the next
/// number; only branches need a table.
@safe
final class PatternAutomaton {
    private struct State {
        /// The failure link: the state of the longest proper suffix that is a prefix of a pattern.
        /// Before linking, the parent state.
        var back: Int32
        /// The number of bytes of a pattern seen.
        var depth: Int32
        /// The length of the longest pattern that ends here; 0 for none.
        var longestMatch: Int32 = 0
        let byte: UInt8
        /// Whether this is a child of the state with the previous number.
        let isNeighbour: Bool
        /// Whether there are children other than the neighbour.
        var hasBranches = false
    }

    /// A transition, in a table with open addressing. The next state is never the root.
    private struct Branch {
        let state: Int32
        let byte: UInt8
        let next: Int32
    }

    /// The initial state.
    static let root: Int32 = 0

    private let arena = SecretArena()
    private let states: UnsafeMutablePointer<State>
    /// The children of the root, by byte.
    private let firsts: UnsafeMutablePointer<Int32>
    private let branches: UnsafeMutablePointer<Branch>
    private let branchMask: Int
    private var count: Int32 = 1

    /// Builds the automaton from patterns, and from prefixes of some of them.
    init(_ patterns: [SecretSlice], beginnings: [SecretSlice] = []) throws(SealingError) {
        // Plus the root, and a last state that is nobody's neighbour.
        let total = patterns.reduce(2) { $0 + $1.count }
        guard total < Int(Int32.max) else { throw .outOfMemory }
        // Each pattern adds at most one branch.
        var slots = 16
        while slots < 2 * patterns.count { slots *= 2 }
        branchMask = slots - 1
        // In one region, because the next one would be twice as large.
        arena.reserve(
            MemoryLayout<State>.stride * (total + 1) + MemoryLayout<Branch>.stride * (slots + 1)
                + MemoryLayout<Int32>.stride * 257)
        unsafe states = try Self.zeros(total, in: arena)
        unsafe firsts = try Self.zeros(256, in: arena)
        unsafe branches = try Self.zeros(slots, in: arena)
        for pattern in patterns + beginnings where pattern.count > 0 { insert(pattern) }
        link()
    }

    /// Returns aligned memory that lives as long as the arena.
    private static func zeros<T: BitwiseCopyable>(
        _ count: Int, in arena: SecretArena
    ) throws(SealingError) -> UnsafeMutablePointer<T> {
        let slice = try arena.allocate(count: MemoryLayout<T>.stride * (count + 1))
        return unsafe slice.withMutableBytes { span in
            unsafe span.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { preconditionFailure("never empty") }
                return unsafe base.alignedUp(for: T.self).assumingMemoryBound(to: T.self)
            }
        }
    }

    // MARK: Building

    private func insert(_ pattern: SecretSlice) {
        pattern.withBytes { pattern in
            var state = Self.root
            for index in 0..<pattern.byteCount {
                let byte = pattern.byte(at: index)
                let next = follow(state, byte)
                state = next == Self.root ? add(byte, behind: state) : next
            }
            unsafe states[Int(state)].longestMatch = Int32(pattern.byteCount)
        }
    }

    private func add(_ byte: UInt8, behind state: Int32) -> Int32 {
        let next = count
        count += 1
        let isNeighbour = state != Self.root && state + 1 == next
        unsafe states[Int(next)] = State(
            back: state, depth: states[Int(state)].depth + 1, byte: byte, isNeighbour: isNeighbour)
        if state == Self.root {
            unsafe firsts[Int(byte)] = next
        } else if !isNeighbour {
            unsafe states[Int(state)].hasBranches = true
            unsafe branches[slot(of: state, byte)] = Branch(state: state, byte: byte, next: next)
        }
        return next
    }

    /// Returns the slot of a branch, or where it would be inserted.
    @inline(__always)
    private func slot(of state: Int32, _ byte: UInt8) -> Int {
        let hash = (Int(state) << 8 | Int(byte)) &* 0x1E37_79B9_7F4A_7C15 >> 20
        var slot = hash & branchMask
        while unsafe branches[slot].next != Self.root,
            unsafe branches[slot].state != state || branches[slot].byte != byte
        {
            slot = (slot + 1) & branchMask
        }
        return slot
    }

    /// Returns the child state for a byte, or the root.
    @inline(__always)
    private func follow(_ state: Int32, _ byte: UInt8) -> Int32 {
        if state == Self.root { return unsafe firsts[Int(byte)] }
        let neighbour = Int(state) + 1
        if unsafe states[neighbour].byte == byte, unsafe states[neighbour].isNeighbour {
            return state + 1
        }
        guard unsafe states[Int(state)].hasBranches else { return Self.root }
        return unsafe branches[slot(of: state, byte)].next
    }

    /// Computes the failure links, in order of depth.
    private func link() {
        let depths = (1..<Int(count)).map { unsafe Int(states[$0].depth) }
        var ends = [Int](repeating: 0, count: (depths.max() ?? 0) + 2)
        for depth in depths { ends[depth + 1] += 1 }
        for depth in ends.indices.dropFirst() { ends[depth] += ends[depth - 1] }
        var order = depths
        for (number, depth) in depths.enumerated() {
            order[ends[depth]] = number + 1
            ends[depth] += 1
        }
        for state in order {
            let before = unsafe states[state].back
            let back =
                before == Self.root
                ? before : unsafe next(states[Int(before)].back, states[state].byte)
            unsafe states[state].back = back
            if unsafe states[state].longestMatch == 0 {
                unsafe states[state].longestMatch = states[Int(back)].longestMatch
            }
        }
    }

    // MARK: Searching

    /// Returns the state after the next byte of a text.
    @inline(__always)
    func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        var state = state
        while true {
            let target = follow(state, byte)
            if target != Self.root || state == Self.root { return target }
            state = unsafe states[Int(state)].back
        }
    }

    /// Returns the number of bytes of a pattern seen in a state.
    @inline(__always)
    func depth(of state: Int32) -> Int { unsafe Int(states[Int(state)].depth) }

    /// Returns the length of the longest pattern that ends in a state; 0 for none.
    @inline(__always)
    func longestMatch(in state: Int32) -> Int { unsafe Int(states[Int(state)].longestMatch) }
}
