/// The content of a variable's checkpoint entry.
package struct AcceptedRecord: Equatable, Sendable {
    /// The parts of the Vercel record that determine where a value goes.
    package struct Remote: Equatable, Sendable {
        package let id: String
        package let account: String
    }

    package let id: Identifier
    package var project: Identifier
    package var currentVersion: UInt64
    package var highestVersion: UInt64
    package var rotationSeconds: UInt64
    package var isLive: Bool
    package var kind: VariableAttributes.Kind
    package var name: String
    package var scope: Scope
    package var remote: Remote?
    /// Sorted by number.
    package var versions: [VersionName]

    /// 10,000 earlier versions and the current one.
    static let versionLimit = VaultFormat.versionLimit + 1

    /// Returns the content for a variable's current state.
    init(of variable: Variable, versions: [VersionName] = []) {
        id = variable.id
        project = variable.project
        currentVersion = variable.currentVersion
        highestVersion = variable.highestVersion
        rotationSeconds = variable.rotationSeconds
        isLive = variable.isLive
        kind = variable.attributes.kind
        name = variable.name
        scope = variable.attributes.scope
        remote = variable.remote.map { Remote(id: $0.id, account: $0.account) }
        self.versions = versions
    }

    /// Decodes an entry. The caller must check the names and the order of versions.
    init(from reader: inout ByteReader) throws(VaultError) {
        id = try reader.identifier()
        project = try reader.identifier()
        currentVersion = try reader.uint64()
        highestVersion = try reader.uint64()
        rotationSeconds = try reader.uint64()
        isLive = try reader.flag()
        kind = try VariableAttributes.Kind.decode(from: &reader)
        name = try reader.text(limit: VaultFormat.nameLimit)
        scope = try Scope.decode(from: &reader)
        if try reader.flag() {
            remote = Remote(
                id: try reader.text(limit: VaultFormat.textLimit),
                account: try reader.text(limit: VaultFormat.textLimit))
        }
        versions = []
        for _ in 0..<(try Self.versionCount(from: &reader)) {
            versions.append(try VersionName.decode(from: &reader))
        }
    }

    /// The encoded content of the entry.
    var content: [UInt8] {
        var writer = ByteWriter(reserving: 128 + versions.count * VersionName.byteCount)
        encode(into: &writer)
        return writer.bytes
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.identifier(project)
        writer.uint64(currentVersion)
        writer.uint64(highestVersion)
        writer.uint64(rotationSeconds)
        writer.flag(isLive)
        writer.byte(kind.rawValue)
        writer.text(name)
        scope.encode(into: &writer)
        writer.flag(remote != nil)
        if let remote {
            writer.text(remote.id)
            writer.text(remote.account)
        }
        writer.uint32(UInt32(versions.count))
        for version in versions { version.encode(into: &writer) }
    }

    /// Checks that the rest of `reader` is an entry's content, without allocating memory.
    ///
    /// - Returns: The variable's id.
    static func check(_ reader: inout ByteReader) throws(VaultError) -> Identifier {
        let id = try reader.identifier()
        let nameByteCount = try skipFixed(&reader)
        _ = try skipScopeAndRemote(&reader)
        var last: UInt64?
        for _ in 0..<(try versionCount(from: &reader)) {
            let number = try reader.uint64()
            _ = try reader.section(VersionName.byteCount - 8)
            if let last, last >= number {
                throw VaultError(
                    damaged: .order, "the versions in a checkpoint entry are not in order")
            }
            last = number
        }
        try reader.expectEnd(of: "a checkpoint entry")
        guard nameByteCount > 0 else {
            throw VaultError(damaged: .encoding, "the checkpoint has a variable without a name")
        }
        return id
    }

    private static func skipFixed(_ reader: inout ByteReader) throws(VaultError) -> Int {
        _ = try reader.section(40)
        _ = try reader.flag()
        _ = try VariableAttributes.Kind.decode(from: &reader)
        return try reader.skipText(limit: VaultFormat.nameLimit)
    }

    private static func skipScopeAndRemote(_ reader: inout ByteReader) throws(VaultError) -> Scope {
        let scope = try Scope.decode(from: &reader)
        if try reader.flag() {
            _ = try reader.skipText(limit: VaultFormat.textLimit)
            _ = try reader.skipText(limit: VaultFormat.textLimit)
        }
        return scope
    }

    private static func versionCount(from reader: inout ByteReader) throws(VaultError) -> Int {
        try reader.count(
            limit: versionLimit, minimumByteCount: VersionName.byteCount,
            of: "versions in the checkpoint")
    }

    /// Returns whether the entry in `reader` allows disclosing a value of `variable`: its project,
    /// name, use, scope and version match.
    ///
    /// - Parameter version: The current version unless `isCurrent` is false; nil if there is no
    ///   value.
    static func accepts(
        _ reader: inout ByteReader, _ variable: Variable, _ version: StoredVersion?, isCurrent: Bool
    ) throws(VaultError) -> Bool {
        guard try reader.identifier() == variable.id,
            try reader.identifier() == variable.project,
            try reader.uint64() == variable.currentVersion || !isCurrent
        else { return false }
        _ = try reader.section(16)
        guard try reader.flag() == variable.isLive else { return false }
        _ = try reader.byte()
        guard try reader.isNext(variable.name),
            try skipScopeAndRemote(&reader) == variable.attributes.scope
        else { return false }
        guard let version else { return true }
        return try lists(&reader, version)
    }

    /// Returns whether the entry in `reader`, of which nothing was read yet, lists a version.
    static func accepts(
        _ reader: inout ByteReader, _ version: StoredVersion
    ) throws(VaultError) -> Bool {
        _ = try reader.section(16)
        _ = try skipFixed(&reader)
        _ = try skipScopeAndRemote(&reader)
        return try lists(&reader, version)
    }

    private static func lists(
        _ reader: inout ByteReader, _ version: StoredVersion
    ) throws(VaultError) -> Bool {
        for _ in 0..<(try versionCount(from: &reader)) {
            guard try reader.uint64() == version.version else {
                _ = try reader.section(VersionName.byteCount - 8)
                continue
            }
            return try VersionName(
                number: version.version, id: reader.identifier(), batch: reader.identifier(),
                createdAt: reader.uint64()) == version.name
        }
        return false
    }
}
