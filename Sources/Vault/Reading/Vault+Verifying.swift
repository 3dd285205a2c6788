internal import Sealing

extension Vault {
    /// Checks every byte; see ``inspection(with:)``.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for the first problem.
    package func verify(with keys: VaultKeys) throws(VaultError) {
        try inspection(with: keys).throwFirstProblem()
    }

    /// Checks every byte: the header and lengths (already checked when this vault was opened), the
    /// tag, signature and encoding of the table, the hash, tag and encoding of each section, and the
    /// hash of every chunk. Does not require the root; with it, also checks the code of the table, and
    /// opens every data key and every value.
    ///
    /// - Throws: ``VaultError/Code/epochChanged``, ``VaultError/Code/inputOutput`` and
    ///   ``VaultError/Code/outOfMemory``. Problems are returned, not thrown.
    package func inspection(with keys: VaultKeys) throws(VaultError) -> VaultInspection {
        var inspection = VaultInspection()
        inspection.byteCount = header.fileByteCount
        inspection.opensValues = keys.opensValues
        let index: VaultIndex
        do throws(VaultError) {
            index = try checkedIndex(with: keys)
        } catch  where error.code == .damaged {
            inspection.problems.append(
                .init(error.damage == .exchangedKey ? .header : .index, error))
            return inspection
        }
        inspection.variableCount = index.variables.count(where: \.isLive)
        inspection.removedVariableCount = index.variables.count { !$0.isLive }
        let reader = try ValueReader(vault: self, index: index, keys: keys)
        if let reader {
            for batch in index.batches {
                do throws(VaultError) {
                    _ = try reader.dataKey(of: batch.id)
                } catch  where error.code == .damaged {
                    inspection.problems.append(.init(.dataKey, error))
                }
            }
        }
        try inspect(index, reader, &inspection)
        return inspection
    }

    private func inspect(
        _ index: VaultIndex, _ reader: ValueReader?, _ inspection: inout VaultInspection
    ) throws(VaultError) {
        let variables = Dictionary(uniqueKeysWithValues: index.variables.map { ($0.id, $0) })
        var arenas = RotatingArena()
        for version in index.currentVersions.values + index.earlierVersions {
            // The decoded index is coherent, so the variable exists.
            guard let variable = variables[version.variable] else { continue }
            let problem: VaultError?
            do throws(VaultError) {
                let bytes = try chunk(of: version)
                if bytes.withBytes({ Checksum(of: $0) }) != version.checksum {
                    problem = VaultError(
                        damaged: .chunk,
                        "version \(version.version) of \(variable.name) does not match its checksum"
                    )
                } else {
                    let arena = arenas.arena(for: bytes.count)
                    _ = try reader?.value(of: variable, version, in: arena)
                    problem = nil
                }
            } catch  where error.code == .damaged {
                problem = error
            }
            inspection.versionCount += 1
            guard let problem else { continue }
            inspection.problems.append(
                .init(
                    .value, problem, key: variable.name, version: version.version,
                    offset: header.blocksOffset + version.offset))
        }
    }
}

/// Secret memory for processing values one at a time. Starts a new arena every 16 MiB, so that
/// neither are all values in memory at once, nor does each take its own region.
struct RotatingArena {
    private static let limit = 16 << 20
    private var arena = SecretArena(firstRegionByteCount: 1 << 20)
    private var used = 0

    /// Returns an arena with room for about `byteCount` bytes. Slices of earlier arenas stay valid
    /// while referenced.
    mutating func arena(for byteCount: Int) -> SecretArena {
        if used > 0, used + byteCount > Self.limit {
            arena = SecretArena(firstRegionByteCount: 1 << 20)
            used = 0
        }
        used += byteCount
        return arena
    }
}
