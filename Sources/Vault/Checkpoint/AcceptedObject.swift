internal import Sealing

/// The content of an object's checkpoint entry.
package enum AcceptedObject: Equatable, Sendable {
    /// A project: its identity, and the Vercel project that receives its values.
    package struct ProjectEntry: Equatable, Sendable {
        package let id: Identifier
        package let name: String
        package let binding: VaultProject.Binding?
    }

    /// An account without its times; the token as a digest.
    package struct AccountEntry: Equatable, Sendable {
        package let name: String
        package let origin: String
        package let userID: String
        package let username: String
        package let teamID: String?
        package let teamSlug: String?
        package let isDefault: Bool
        package let protection: Account.Protection
        let digest: [UInt8]
    }

    /// A journal entry: its kind, and a digest of the rest.
    package struct WorkEntry: Equatable, Sendable {
        package let id: Identifier
        package let kind: UInt8
        let digest: [UInt8]
    }

    case project(ProjectEntry)
    case variable(AcceptedRecord)
    case account(AccountEntry)
    case directory(IndexMetadata.ApprovedDirectory)
    case journalEntry(WorkEntry)
    case setting(VaultSetting)

    init(_ project: VaultProject) {
        self = .project(ProjectEntry(id: project.id, name: project.name, binding: project.binding))
    }

    init(_ account: Account) {
        self = .account(
            AccountEntry(
                name: account.name, origin: account.origin, userID: account.userID,
                username: account.username, teamID: account.teamID, teamSlug: account.teamSlug,
                isDefault: account.isDefault, protection: account.protection,
                digest: account.secret.withBytes { Digest.checksum($0) }))
    }

    /// Digests the time and payload.
    init(_ entry: AnyJournalEntry) {
        var writer = ByteWriter()
        switch entry {
        case .open(let entry):
            writer.uint64(entry.createdAt)
            writer.raw(entry.payload)
            self = .journalEntry(
                WorkEntry(
                    id: entry.id, kind: entry.kind,
                    digest: writer.withBytes { Digest.checksum($0) }))
        case .secret(let entry):
            writer.uint64(entry.createdAt)
            self = .journalEntry(
                WorkEntry(
                    id: entry.id, kind: RelayRegistration.kind,
                    digest: writer.withBytes { time in
                        entry.payload.withBytes { Digest.checksum(time, then: $0) }
                    }))
        }
    }

    package var object: CoveredObject {
        switch self {
        case .project(let project): .project(project.id)
        case .variable(let record): .variable(record.id)
        case .account(let account): .account(account.name)
        case .directory(let directory): .directory(directory.path)
        case .journalEntry(let entry): .journalEntry(entry.id)
        case .setting(let setting): .setting(setting.name)
        }
    }

    /// The encoded content of the entry.
    var content: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }

    func encode(into writer: inout ByteWriter) {
        switch self {
        case .project(let project):
            writer.identifier(project.id)
            writer.text(project.name)
            VaultProject.Binding.encode(project.binding, into: &writer)
        case .variable(let record): record.encode(into: &writer)
        case .account(let account):
            writer.text(account.name)
            writer.text(account.origin)
            writer.text(account.userID)
            writer.text(account.username)
            writer.optionalText(account.teamID)
            writer.optionalText(account.teamSlug)
            writer.flag(account.isDefault)
            writer.byte(account.protection.rawValue)
            writer.raw(account.digest)
        case .directory(let directory): directory.encode(into: &writer)
        case .journalEntry(let entry):
            writer.identifier(entry.id)
            writer.byte(entry.kind)
            writer.raw(entry.digest)
        case .setting(let setting): setting.encode(into: &writer)
        }
    }

    static func decode(
        from reader: inout ByteReader, _ kind: CoveredObject.Kind
    ) throws(VaultError) -> AcceptedObject {
        let limit = VaultFormat.textLimit
        switch kind {
        case .project:
            return .project(
                ProjectEntry(
                    id: try reader.identifier(),
                    name: try reader.text(limit: VaultFormat.nameLimit),
                    binding: try VaultProject.Binding.decode(from: &reader)))
        case .variable: return .variable(try AcceptedRecord(from: &reader))
        case .account:
            return .account(
                AccountEntry(
                    name: try reader.text(limit: VaultFormat.nameLimit),
                    origin: try reader.text(limit: limit), userID: try reader.text(limit: limit),
                    username: try reader.text(limit: limit),
                    teamID: try reader.optionalText(limit: limit),
                    teamSlug: try reader.optionalText(limit: limit),
                    isDefault: try reader.flag(),
                    protection: try Account.Protection.decode(from: &reader),
                    digest: try reader.bytes(Digest.byteCount)))
        case .directory: return .directory(try .decode(from: &reader))
        case .journalEntry:
            return .journalEntry(
                WorkEntry(
                    id: try reader.identifier(), kind: try reader.byte(),
                    digest: try reader.bytes(Digest.byteCount)))
        case .setting: return .setting(try .decode(from: &reader))
        }
    }
}
