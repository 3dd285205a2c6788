package import Sealing
internal import Threads

/// Opens values of one generation of a vault, each when it is asked for.
///
/// A value that nobody with the root sealed or accepted is given to no one, unless the reader was made to
/// give it: nothing leaves through it then, and nothing is decided by it.
package final class ValueReader {
    private let vault: Vault
    private let index: VaultIndex
    private let keys: VaultKeys
    private let batchKey: SecretBytes
    private let givesAny: Bool
    /// Made when a batch of a locked write is opened first: most commands need none.
    private var keyPair: KeyPairHolder?
    private let keyArena = SecretArena(firstRegionByteCount: 4096)
    private var dataKeys: [Identifier: SecretSlice] = [:]
    private var opening: BatchOpening
    /// Looked up by id: there is one for every write that nobody accepted so far.
    private lazy var batches = Dictionary(uniqueKeysWithValues: index.batches.map { ($0.id, $0) })

    private final class KeyPairHolder {
        let pair: SealedBox.KeyPair
        init(_ pair: consuming SealedBox.KeyPair) { self.pair = pair }
    }

    /// Opens values one after the other, and keeps what is needed of the last one's batch: thousands may
    /// be of one.
    private struct BatchOpening: ~Copyable {
        let vault: Identifier
        private var last: (id: Identifier, key: SecretSlice)?
        private var data = ValueChunk.AssociatedData()

        init(vault: Identifier) { self.vault = vault }

        /// - Parameter findKey: Asked for a data key where the batch is another one than before.
        mutating func open(
            _ chunk: RawSpan, batch: Identifier, variable: Identifier, version: Identifier,
            project: Identifier, name: String, in arena: SecretArena,
            findKey: (Identifier) throws(VaultError) -> SecretSlice
        ) throws(VaultError) -> SecretSlice {
            let key: SecretSlice
            if let last, last.id == batch {
                key = last.key
            } else {
                key = try findKey(batch)
                last = (batch, key)
                data.begin(vault: vault, batch: batch)
            }
            return try data.withBytes(
                variable: variable, version: version, project: project, name: name
            ) { (data) throws(VaultError) in
                try ValueChunk.open(
                    chunk, associatedData: data, dataKey: key, in: arena, name: name)
            }
        }
    }

    /// - Parameters:
    ///   - index: Decoded with current values at least, and its checkpoint checked.
    ///   - givesAny: Whether values are given that nobody accepted: for what looks at the whole vault, and
    ///     gives nothing out.
    /// - Returns: nil while the values are locked.
    package init?(
        vault: Vault, index: VaultIndex, keys: VaultKeys, givesAny: Bool = false
    ) throws(VaultError) {
        guard let batchKey = try keys.root?.batchKey() else { return nil }
        self.vault = vault
        self.index = index
        self.keys = keys
        self.batchKey = batchKey
        self.givesAny = givesAny
        opening = BatchOpening(vault: vault.header.vaultID)
    }

    /// Opens one version of a variable's value into `arena`.
    ///
    /// - Throws: ``VaultError/Code/notAccepted``; ``VaultError/Code/damaged`` when the chunk or its data key
    ///   was changed, or belongs elsewhere.
    package func value(
        of variable: Variable, _ version: StoredVersion, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        guard givesAny || index.accepts(version) else { throw Self.notAccepted(variable.name) }
        return try anyValue(of: variable, version, in: arena)
    }

    private static func notAccepted(_ name: String) -> VaultError {
        VaultError(
            .notAccepted,
            "the value of \(name) was changed while the vault was locked, and nobody has accepted it"
        )
    }

    /// Opens a version, accepted or not.
    func anyValue(
        of variable: Variable, _ version: StoredVersion, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        guard batches[version.batch]?.isSealed != true || !index.accepts(version) else {
            throw Self.forged
        }
        let chunk = try vault.chunk(of: version)
        return try chunk.withBytes { (chunk) throws(VaultError) in
            try opening.open(
                chunk, batch: version.batch, variable: variable.id, version: version.id,
                project: version.sealedName?.project ?? variable.project,
                name: version.sealedName?.name ?? variable.name, in: arena, findKey: dataKey)
        }
    }

    /// The most bytes that are read at once, and the most between two chunks that are read along.
    /// So little that the allocator hands out the same memory again.
    private static let (readLimit, gapLimit): (UInt64, UInt64) = (96 << 10, 4 << 10)

    /// Opens the current values of many variables, with few reads of the file and thousands of them by two
    /// threads; nil for each that the vault holds none of.
    ///
    /// - Parameter positions: Where they stand in the index. Records are large, and are not copied.
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
            let offset = versions.values[version].offset
            let length = UInt64(versions.values[version].length)
            let (end, overflow) = offset.addingReportingOverflow(length)
            guard !overflow, end <= vault.header.chunksByteCount else {
                throw VaultError(damaged: .layout, "a value lies outside of the vault")
            }
            guard givesAny || index.accepts(versions.values[version], guess: variable) else {
                throw Self.notAccepted(index.variables[variable].name)
            }
            places.append(
                Place(
                    offset: offset, end: end, position: position, variable: variable,
                    version: version))
        }
        places.sort { $0.offset < $1.offset }
        // The other thread has to be made first, and begins a little later.
        let half =
            places.count >= Self.togetherCount ? places.count / 2 + places.count / 32 : places.count
        // Every key is there before a thread begins: they are unwrapped by one alone.
        var known: Identifier?
        for place in places where versions.values[place.version].batch != known {
            known = versions.values[place.version].batch
            _ = try dataKey(of: versions.values[place.version].batch)
            // Everything here is accepted, but for a reader that gives any.
            let isSealed = batches[versions.values[place.version].batch]?.isSealed == true
            guard !isSealed || givesAny else { throw Self.forged }
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

    /// From so many values on, two threads open half of them each.
    private static let togetherCount = 512

    /// A current value, in the file and in the index.
    private struct Place {
        let offset: UInt64
        let end: UInt64
        /// Among those asked for.
        let position: Int
        /// Among the variables, and among the versions.
        let (variable, version): (Int, Int)
    }

    /// Some of many values, which one thread opens: what it shares with others does not change meanwhile.
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
            // Not properties: each look at one of an object is checked for another at the same time.
            let (versions, variables) = (index.currentVersions.values, index.variables)
            var values: [SecretSlice] = []
            var opening = BatchOpening(vault: vault.header.vaultID)
            // A value is shorter than its chunk. Several places may name one chunk of a hostile file.
            let total = places.reduce(0 as UInt64) { sum, place in
                min(sum + (place.end - place.offset), vault.header.chunksByteCount)
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
                        // Part by part: a whole record is counted once for each of its texts.
                        let sealed = versions[place.version].sealedName
                        values.append(
                            try opening.open(
                                chunks.extracting(start..<end),
                                batch: versions[place.version].batch,
                                variable: variables[place.variable].id,
                                version: versions[place.version].id,
                                project: sealed?.project ?? variables[place.variable].project,
                                name: sealed?.name ?? variables[place.variable].name, in: arena,
                                findKey: key))
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

    /// Tells whether the current value of a variable may be given out, or compared with another one.
    package func isAccepted(_ variable: Variable) -> Bool {
        index.currentVersions[variable.id].map { givesAny || index.accepts($0) } ?? true
    }

    /// Opens the current value of a variable; nil where the vault holds none.
    package func currentValue(
        of variable: Variable, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice? {
        guard let version = index.currentVersions[variable.id] else { return nil }
        return try value(of: variable, version, in: arena)
    }

    /// The data key of a batch, of 32 bytes.
    func dataKey(of id: Identifier) throws(VaultError) -> SecretSlice {
        if let known = dataKeys[id] { return known }
        guard let batch = batches[id] else {
            throw VaultError(damaged: .layout, "a value has no data key")
        }
        let key: SecretSlice
        switch batch.wrapping {
        case .root:
            key = try batch.unwrapped(
                vault: vault.header.vaultID, batchKey: batchKey, in: keyArena)
        case .sealed:
            key = try batch.unwrapped(
                vault: vault.header.vaultID, keyPair: try holder().pair, in: keyArena)
        }
        dataKeys[id] = key
        return key
    }

    private func holder() throws(VaultError) -> KeyPairHolder {
        if let keyPair { return keyPair }
        guard let pair = try keys.root?.boxKeyPair() else {
            throw VaultError(.wrongPassphrase, "the values are locked")
        }
        let holder = KeyPairHolder(pair)
        keyPair = holder
        return holder
    }

    /// Of a version that the checkpoint names, in a batch that takes the public key alone to make.
    private static var forged: VaultError {
        VaultError(
            damaged: .batch, "an accepted value was replaced by somebody who cannot open the values"
        )
    }
}
