/// What a rotation will do, fixed and sealed when it starts. Contains no values, only ids of
/// variables and version numbers.
@dynamicMemberLookup
package struct RotationPlan: Equatable, Sendable {
    /// What to do when a step fails.
    package enum FailurePolicy: UInt8, Sendable {
        /// Restore the old value everywhere.
        case rollback = 1
        /// Leave everything as it is.
        case keep = 2
    }

    /// A step for all projects together; its number is its place in the journal's payload, so another one
    /// changes the format of a vault.
    package enum Stage: Int, Sendable, CaseIterable {
        /// Running the apply command for the new value.
        case apply = 0
        /// Running the revoke command.
        case revoke = 1
        /// Running the apply command for the old value.
        case undo = 2
    }

    /// A variable with its old and new version.
    package struct Record: Equatable, Sendable {
        package let variable: Identifier
        /// 0 if the vault has no old value.
        package let oldVersion: UInt64
        package let newVersion: UInt64

        package init(variable: Identifier, oldVersion: UInt64, newVersion: UInt64) {
            self.variable = variable
            self.oldVersion = oldVersion
            self.newVersion = newVersion
        }
    }

    /// A project and the variable's records in it.
    package struct Member: Equatable, Sendable {
        package let project: Identifier
        /// The project's name when the rotation started.
        package let name: String
        /// The project's id on Vercel.
        package let vercelProject: String
        /// The project's name on Vercel.
        package let vercelName: String
        /// `production`, `preview` or a custom environment; nil if nothing is deployed.
        package let target: String?
        /// The deployment to rebuild, which was live when the rotation started; nil if nothing is
        /// deployed.
        package let source: String?
        /// When the project's newest deployment at that time was created, by Vercel's clock, in
        /// milliseconds since 1970.
        package let newestAt: UInt64
        /// At least one.
        package let records: [Record]

        package init(
            project: Identifier, name: String, vercelProject: String, vercelName: String,
            target: String?, source: String?, newestAt: UInt64, records: [Record]
        ) {
            self.project = project
            self.name = name
            self.vercelProject = vercelProject
            self.vercelName = vercelName
            self.target = target
            self.source = source
            self.newestAt = newestAt
            self.records = records
        }
    }

    /// The user's commands and URLs.
    package struct Commands: Equatable, Sendable {
        /// Installs the new value, or the old one on revert, where it is accepted.
        package var apply: String?
        /// Checks that a deployment works with the value it should have.
        package var check: String?
        /// A URL that must respond.
        package var checkURL: String?
        /// The expected status.
        package var checkStatus: UInt32 = 200
        /// Makes the old value invalid.
        package var revoke: String?

        package init() {}

        /// Whether a deployment is checked beyond its variables.
        package var hasCheck: Bool { check != nil || checkURL != nil }
    }

    /// What the user chose for a rotation.
    package struct Options: Equatable, Sendable {
        package var commands = Commands()
        /// Whether to redeploy.
        package var redeploys = false
        /// Whether to promote a deployment that is built but staged.
        package var promotes = false
        package var failurePolicy = FailurePolicy.rollback
        /// The time limit of a deployment or a command, in seconds.
        package var timeoutSeconds: UInt64 = 900

        package init() {}
    }

    /// The variable's name.
    package let key: String
    package let options: Options
    /// At least one.
    package let members: [Member]

    package init(key: String, options: Options, members: [Member]) {
        self.key = key
        self.options = options
        self.members = members
    }

    package subscript<Value>(dynamicMember option: KeyPath<Options, Value>) -> Value {
        options[keyPath: option]
    }

    /// In bytes.
    package static let commandLimit = 16 << 10
    /// The most projects of a rotation, and records of a project.
    package static let memberLimit = 1_000

    func encode(into writer: inout ByteWriter) {
        writer.text(key)
        options.encode(into: &writer)
        writer.uint32(UInt32(members.count))
        for member in members { member.encode(into: &writer) }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> RotationPlan {
        let key = try reader.text(limit: VaultFormat.nameLimit)
        let options = try Options(from: &reader)
        let count = try reader.count(limit: memberLimit, minimumByteCount: 42, of: "projects")
        var members: [Member] = []
        for _ in 0..<count { members.append(try Member.decode(from: &reader)) }
        return RotationPlan(key: key, options: options, members: members)
    }
}

extension RotationPlan.Options {
    fileprivate func encode(into writer: inout ByteWriter) {
        writer.optionalText(commands.apply)
        writer.optionalText(commands.check)
        writer.optionalText(commands.checkURL)
        writer.uint32(commands.checkStatus)
        writer.optionalText(commands.revoke)
        writer.byte(redeploys ? promotes ? 2 : 1 : 0)
        writer.byte(failurePolicy.rawValue)
        writer.uint64(timeoutSeconds)
    }

    fileprivate init(from reader: inout ByteReader) throws(VaultError) {
        let limit = RotationPlan.commandLimit
        commands.apply = try reader.optionalText(limit: limit)
        commands.check = try reader.optionalText(limit: limit)
        commands.checkURL = try reader.optionalText(limit: VaultFormat.textLimit)
        commands.checkStatus = try reader.uint32()
        commands.revoke = try reader.optionalText(limit: limit)
        let deployment = try reader.byte()
        guard deployment <= 2, let policy = RotationPlan.FailurePolicy(rawValue: try reader.byte())
        else { throw RotationEntry.malformed }
        (redeploys, promotes) = (deployment > 0, deployment == 2)
        failurePolicy = policy
        timeoutSeconds = try reader.uint64()
    }
}

extension RotationPlan.Member {
    func encode(into writer: inout ByteWriter) {
        writer.identifier(project)
        writer.text(name)
        writer.text(vercelProject)
        writer.text(vercelName)
        writer.optionalText(target)
        writer.optionalText(source)
        writer.uint64(newestAt)
        writer.uint32(UInt32(records.count))
        for record in records {
            writer.identifier(record.variable)
            writer.uint64(record.oldVersion)
            writer.uint64(record.newVersion)
        }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> RotationPlan.Member {
        let limit = VaultFormat.textLimit
        let project = try reader.identifier()
        let name = try reader.text(limit: VaultFormat.nameLimit)
        let vercelProject = try reader.text(limit: limit)
        let vercelName = try reader.text(limit: limit)
        let target = try reader.optionalText(limit: limit)
        let source = try reader.optionalText(limit: limit)
        let newestAt = try reader.uint64()
        let count = try reader.count(
            limit: RotationPlan.memberLimit, minimumByteCount: 32, of: "records")
        var records: [RotationPlan.Record] = []
        for _ in 0..<count {
            records.append(
                .init(
                    variable: try reader.identifier(), oldVersion: try reader.uint64(),
                    newVersion: try reader.uint64()))
        }
        return RotationPlan.Member(
            project: project, name: name, vercelProject: vercelProject,
            vercelName: vercelName, target: target, source: source, newestAt: newestAt,
            records: records)
    }
}
