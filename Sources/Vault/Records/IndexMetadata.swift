/// What the index says of the vault as a whole.
package struct IndexMetadata: Equatable, Sendable {
    /// The authentication tag of an earlier generation's index: how a reader knows an ancestor.
    package struct GenerationTag: Equatable, Sendable {
        let generation: UInt64
        /// 16 bytes.
        let tag: [UInt8]
    }

    /// Where the audit log stood at the last write.
    package struct AuditPosition: Equatable, Sendable {
        /// The number of its last line.
        package let sequence: UInt64
        /// 16 bytes.
        let tag: [UInt8]
    }

    /// A directory whose link file this vault has approved.
    package struct ApprovedDirectory: Equatable, Sendable {
        /// The canonical path.
        package let path: String
        /// What the link names: the platform's project id, or a project of the vault.
        package let project: String
        /// The platform's organisation id; empty for a project that lives only in the vault.
        package let organisation: String
        /// The project of the vault that the link stands for.
        package let vaultProject: Identifier

        static let minimumByteCount = 28

        func encode(into writer: inout ByteWriter) {
            writer.text(path)
            writer.text(project)
            writer.text(organisation)
            writer.identifier(vaultProject)
        }

        static func decode(
            from reader: inout ByteReader
        ) throws(VaultError) -> ApprovedDirectory {
            ApprovedDirectory(
                path: try reader.text(limit: VaultFormat.textLimit),
                project: try reader.text(limit: VaultFormat.textLimit),
                organisation: try reader.text(limit: VaultFormat.textLimit),
                vaultProject: try reader.identifier())
        }

        /// Names all parts.
        package init(
            path: String, project: String, organisation: String, vaultProject: Identifier
        ) {
            self.path = path
            self.project = project
            self.organisation = organisation
            self.vaultProject = vaultProject
        }
    }

    var generationTags: [GenerationTag] = []
    /// Where the audit log ended when it was last looked at; nil before its first line.
    package internal(set) var audit: AuditPosition?
    /// In ascending order of paths.
    package private(set) var approvedDirectories: [ApprovedDirectory] = []

    /// Which command changed what while the values were locked, oldest first. A claim for people.
    package internal(set) var lockedWrites: [LockedWrite] = []

    /// Approves a directory's link, in place of an earlier approval of the same path.
    package mutating func approve(_ directory: ApprovedDirectory) {
        approvedDirectories.removeAll { $0.path == directory.path }
        approvedDirectories.append(directory)
        approvedDirectories.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Withdraws the approval of a path.
    package mutating func disapprove(path: String) {
        approvedDirectories.removeAll { $0.path == path }
    }

    func encode(into writer: inout ByteWriter) {
        writer.uint32(UInt32(generationTags.count))
        for entry in generationTags {
            writer.uint64(entry.generation)
            writer.raw(entry.tag)
        }
        writer.flag(audit != nil)
        if let audit {
            writer.uint64(audit.sequence)
            writer.raw(audit.tag)
        }
        writer.uint32(UInt32(approvedDirectories.count))
        for directory in approvedDirectories { directory.encode(into: &writer) }
        writer.uint32(UInt32(lockedWrites.count))
        for write in lockedWrites { write.encode(into: &writer) }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> IndexMetadata {
        var metadata = IndexMetadata()
        let tags = try reader.count(
            limit: VaultFormat.generationTagLimit, minimumByteCount: 24, of: "generations")
        for _ in 0..<tags {
            let entry = GenerationTag(
                generation: try reader.uint64(), tag: try reader.bytes(16))
            guard metadata.generationTags.last.map({ $0.generation < entry.generation }) ?? true
            else { throw VaultError(damaged: .order, "generations are not in order") }
            metadata.generationTags.append(entry)
        }
        if try reader.flag() {
            metadata.audit = AuditPosition(
                sequence: try reader.uint64(), tag: try reader.bytes(16))
        }
        let directories = try reader.count(
            limit: VaultFormat.directoryLimit,
            minimumByteCount: ApprovedDirectory.minimumByteCount, of: "approved directories")
        for _ in 0..<directories {
            let directory = try ApprovedDirectory.decode(from: &reader)
            guard
                metadata.approvedDirectories.last.map({
                    $0.path.utf8.lexicographicallyPrecedes(directory.path.utf8)
                }) ?? true
            else { throw VaultError(damaged: .order, "approved directories are not in order") }
            metadata.approvedDirectories.append(directory)
        }
        let writes = try reader.count(
            limit: VaultFormat.lockedWriteLimit, minimumByteCount: LockedWrite.minimumByteCount,
            of: "locked writes")
        for _ in 0..<writes {
            let write = try LockedWrite.decode(from: &reader)
            guard metadata.lockedWrites.last.map({ $0.generation < write.generation }) ?? true
            else { throw VaultError(damaged: .order, "locked writes are not in order") }
            metadata.lockedWrites.append(write)
        }
        return metadata
    }
}
