/// Metadata of the whole vault.
package struct IndexMetadata: Equatable, Sendable {
    /// The authentication tag of an earlier generation's index, which identifies an ancestor.
    package struct GenerationTag: Equatable, Sendable {
        let generation: UInt64
        /// 16 bytes.
        let tag: [UInt8]
    }

    /// The end of the audit log.
    package struct AuditPosition: Equatable, Sendable {
        /// The number of the last line.
        package let sequence: UInt64
        /// 16 bytes.
        let tag: [UInt8]
    }

    /// A directory whose link file this vault has approved.
    package struct ApprovedDirectory: Equatable, Sendable {
        /// The canonical path.
        package let path: String
        /// The Vercel project id in the link, or the name of a project in the vault.
        package let project: String
        /// The Vercel organization id in the link; empty for a project that is only in the vault.
        package let organisation: String
        /// The project of the vault that the link refers to.
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
    /// The end of the audit log when it was last checked; nil before its first line.
    package internal(set) var audit: AuditPosition?
    /// Sorted by path.
    package private(set) var approvedDirectories: [ApprovedDirectory] = []

    /// Sorted by name.
    package private(set) var settings: [VaultSetting] = []

    /// Approves a directory's link, replacing an earlier approval of that path.
    package mutating func approve(_ directory: ApprovedDirectory) {
        approvedDirectories.removeAll { $0.path == directory.path }
        approvedDirectories.append(directory)
        approvedDirectories.sort { bytesPrecede($0.path, $1.path) }
    }

    /// Revokes the approval of a path.
    package mutating func revokeApproval(path: String) {
        approvedDirectories.removeAll { $0.path == path }
    }

    /// Returns the value of a setting; nil if it is not set.
    package func setting(_ name: String) -> String? {
        settings.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Sets a setting, or removes it (nil).
    package mutating func set(_ name: String, to value: String?) {
        settings.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
        guard let value else { return }
        settings.append(VaultSetting(name: name, value: value))
        settings.sort { bytesPrecede($0.name, $1.name) }
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
        writer.uint32(UInt32(settings.count))
        for setting in settings { setting.encode(into: &writer) }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> IndexMetadata {
        var metadata = IndexMetadata()
        metadata.generationTags = try reader.ascending(
            "generations", limit: VaultFormat.generationTagLimit, minimumByteCount: 24,
            { (reader) throws(VaultError) in
                GenerationTag(generation: try reader.uint64(), tag: try reader.bytes(16))
            }, by: \.generation, <, else: "generations are not in order")
        if try reader.flag() {
            metadata.audit = AuditPosition(
                sequence: try reader.uint64(), tag: try reader.bytes(16))
        }
        metadata.approvedDirectories = try reader.ascending(
            "approved directories", limit: VaultFormat.directoryLimit,
            minimumByteCount: ApprovedDirectory.minimumByteCount, ApprovedDirectory.decode,
            by: \.path, bytesPrecede, else: "approved directories are not in order")
        metadata.settings = try reader.ascending(
            "settings", limit: VaultFormat.settingLimit,
            minimumByteCount: VaultSetting.minimumByteCount, VaultSetting.decode,
            by: \.name, bytesPrecede, else: "settings are not in order")
        return metadata
    }
}
