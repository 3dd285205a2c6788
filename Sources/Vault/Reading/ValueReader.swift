package import Sealing
internal import Threads

/// Opens values of one generation of a vault, on demand.
package final class ValueReader {
    private let vault: Vault
    private let index: VaultIndex
    private let batchKey: SecretBytes
    private let keyArena = SecretArena(firstRegionByteCount: 4096)
    private var dataKeys: [Identifier: SecretSlice] = [:]
    private var opening: BatchOpening
    /// A dictionary, because each write may leave a batch.
    private lazy var batches = Dictionary(uniqueKeysWithValues: index.batches.map { ($0.id, $0) })

    /// Opens successive values, caching the last batch's key and data: thousands of values may
    /// share a batch.
    private struct BatchOpening: ~Copyable {
        private var last: (id: Identifier, key: SecretSlice)?
        private var data: ValueChunk.AssociatedData

        init(vault: Identifier) { data = ValueChunk.AssociatedData(vault: vault) }

        /// - Parameter findKey: Called when the batch differs from the last one.
        mutating func open(
            _ chunk: RawSpan, batch: Identifier, variable: Identifier, version: Identifier,
            name: String, in arena: SecretArena,
            findKey: (Identifier) throws(VaultError) -> SecretSlice
        ) throws(VaultError) -> SecretSlice {
            let key: SecretSlice
            if let last, last.id == batch {
                key = last.key
            } else {
                key = try findKey(batch)
                last = (batch, key)
            }
            return try data.withBytes(variable: variable, version: version) {
                (data) throws(VaultError) in
                try ValueChunk.open(
                    chunk, associatedData: data, dataKey: key, in: arena, name: name)
            }
        }
    }

    /// - Parameters:
    ///   - index: Decoded with at least the current values.
    /// - Returns: nil while the values are locked.
    package init?(
        vault: Vault, index: VaultIndex, keys: VaultKeys
    ) throws(VaultError) {
        guard let batchKey = try keys.root?.batchKey() else { return nil }
        self.vault = vault
        self.index = index
        self.batchKey = batchKey
        opening = BatchOpening(vault: vault.header.vaultID)
    }

    /// Opens a version of a variable into `arena`.
    ///
    /// - Throws: ``VaultError/Code/damaged`` if the chunk or its data key was changed or belongs
    ///   elsewhere.
    package func value(
        of variable: Variable, _ version: StoredVersion, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        let chunk = try vault.chunk(of: version)
        return try chunk.withBytes { (chunk) throws(VaultError) in
            try opening.open(
                chunk, batch: version.batch, variable: variable.id, version: version.id,
                name: variable.name, in: arena, findKey: dataKey)
        }
    }

    /// The most bytes to read at once, and the largest gap between two chunks to read across. Small
    /// enough for the allocator to reuse the memory.
    private static let (readLimit, gapLimit): (UInt64, UInt64) = (96 << 10, 4 << 10)

    /// Opens the current values of many variables, with few file reads, and with two threads if
    /// there are many. Nil where the vault has no value.
    ///
    /// - Parameter positions: Indices of the variables. Avoids copying records, which are large.
    package func currentValues(
        at positions: [Int], in arena: SecretArena
    ) throws(VaultError) -> [SecretSlice?] {
        var values = [SecretSlice?](repeating: nil, count: positions.count)
        var places: [Place] = []
        places.reserveCapacity(positions.count)
        let versions = index.currentVersions
        for (position, variable) in positions.enumerated() {
            guard
                let version = versions.place(of: index.variables[variable].id, guess: variable)
            else { continue }
            let chunk = versions.values[version].chunk
            places.append(
                Place(
                    offset: chunk.lowerBound, end: chunk.upperBound, position: position,
                    variable: variable,
                    version: version))
        }
        places.sort { $0.offset < $1.offset }
        // The other thread starts a little later, so it gets less.
        let half =
            places.count >= Self.togetherCount ? places.count / 2 + places.count / 32 : places.count
        // All data keys are unwrapped before the threads start.
        var known: Identifier?
        for place in places where versions.values[place.version].batch != known {
            known = versions.values[place.version].batch
            _ = try dataKey(of: versions.values[place.version].batch)
        }
        let first = Part(places[..<half], arena: arena, of: self)
        let other = Part(places[half...], arena: SecretArena(zeroed: false), of: self)
        let thread = half < places.count ? WorkThread { other.open() } : nil
        first.open()
        if let thread { thread.join() } else { other.open() }
        for part in [first, other] {
            if let failure = part.failure { throw failure }
            for (place, value) in zip(part.places, part.values) { values[place.position] = value }
        }
        return values
    }

    /// From this many values on, two threads open half of them each.
    private static let togetherCount = 512

    /// The location of a current value in the file and the index.
    private struct Place {
        let offset: UInt64
        let end: UInt64
        /// The index in the request.
        let position: Int
        /// The indices in the variables and the versions.
        let (variable, version): (Int, Int)
    }

    /// The values that one thread opens. What it shares with the other thread is not mutated
    /// meanwhile.
    @safe
    private final class Part: @unchecked Sendable {
        let places: ArraySlice<Place>
        private let arena: SecretArena
        private let vault: Vault
        private let index: VaultIndex
        private let keys: [Identifier: SecretSlice]
        private(set) var values: [SecretSlice] = []
        private(set) var failure: VaultError?

        init(_ places: ArraySlice<Place>, arena: SecretArena, of reader: ValueReader) {
            (self.places, self.arena) = (places, arena)
            (vault, index, keys) = (reader.vault, reader.index, reader.dataKeys)
        }

        func open() {
            do throws(VaultError) { values = try opened() } catch { failure = error }
        }

        private func opened() throws(VaultError) -> [SecretSlice] {
            // Locals, because each access to an object's property has an exclusivity check.
            let (versions, variables) = (index.currentVersions.values, index.variables)
            var values: [SecretSlice] = []
            var opening = BatchOpening(vault: vault.header.vaultID)
            // A value is shorter than its chunk. In a malicious file, several places may name one
            // chunk.
            let total = places.reduce(0 as UInt64) { sum, place in
                min(sum + (place.end - place.offset), vault.header.blocksByteCount)
            }
            arena.reserve(Int(clamping: total))
            values.reserveCapacity(places.count)
            var rest = places
            while let first = rest.first {
                var end = first.end
                let together = rest.prefix { place in
                    guard
                        place.offset == first.offset || place.offset <= end + ValueReader.gapLimit,
                        place.end - first.offset
                            <= max(ValueReader.readLimit, first.end - first.offset)
                    else { return false }
                    end = max(end, place.end)
                    return true
                }
                let chunks = try vault.chunks(first.offset..<end)
                try chunks.withBytes { (chunks) throws(VaultError) in
                    for place in together {
                        let start = Int(place.offset - first.offset)
                        let end = Int(place.end - first.offset)
                        // Field by field, because copying a record retains each of its strings.
                        values.append(
                            try opening.open(
                                chunks.extracting(start..<end),
                                batch: versions[place.version].batch,
                                variable: variables[place.variable].id,
                                version: versions[place.version].id,
                                name: variables[place.variable].name, in: arena, findKey: key))
                    }
                }
                rest = rest.dropFirst(together.count)
            }
            return values
        }

        private func key(of batch: Identifier) throws(VaultError) -> SecretSlice {
            guard let key = keys[batch] else {
                throw VaultError(damaged: .layout, "a value has no data key")
            }
            return key
        }
    }

    /// Opens the current value of a variable. Returns nil if the vault has none.
    package func currentValue(
        of variable: Variable, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice? {
        guard let version = index.currentVersions[variable.id] else { return nil }
        return try value(of: variable, version, in: arena)
    }

    /// Returns the data key of a batch, 32 bytes.
    func dataKey(of id: Identifier) throws(VaultError) -> SecretSlice {
        if let known = dataKeys[id] { return known }
        guard let batch = batches[id] else {
            throw VaultError(damaged: .layout, "a value has no data key")
        }
        let key = try batch.unwrapped(
            vault: vault.header.vaultID, batchKey: batchKey, in: keyArena)
        dataKeys[id] = key
        return key
    }
}
