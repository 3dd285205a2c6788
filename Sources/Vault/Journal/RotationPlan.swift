/// What a rotation is to do: fixed when it begins, and sealed with it. No value: records and numbers
/// of versions say which.
package struct RotationPlan: Equatable, Sendable {
    /// What becomes of it when a step fails.
    package enum FailurePolicy: UInt8, Sendable {
        /// The old value goes back everywhere.
        case rollback = 1
        /// Everything stays as it stands then.
        case keep = 2
    }

    /// One record, and its two values.
    package struct Record: Equatable, Sendable {
        /// The vault's record.
        package let variable: Identifier
        /// The version before, 0 where the vault holds none.
        package let oldVersion: UInt64
        /// The version that takes its place.
        package let newVersion: UInt64

        /// Names all three.
        package init(variable: Identifier, oldVersion: UInt64, newVersion: UInt64) {
            self.variable = variable
            self.oldVersion = oldVersion
            self.newVersion = newVersion
        }
    }

    /// One project, with the records of the key in it.
    package struct Member: Equatable, Sendable {
        /// The vault's project.
        package let project: Identifier
        /// What it was called when the rotation began.
        package let name: String
        /// The platform's id of the project.
        package let platformProject: String
        /// The project's name on the platform.
        package let platformName: String
        /// What is deployed: `production`, `preview` or a custom environment; nil for nothing.
        package let target: String?
        /// The deployment that is built anew, and that served when the rotation began; nil where
        /// nothing is deployed.
        package let source: String?
        /// When the newest deployment of the project was made then, by the platform's clock, in
        /// milliseconds since 1970.
        package let newestAt: UInt64
        /// The records, at least one.
        package let records: [Record]

        /// Names all parts.
        package init(
            project: Identifier, name: String, platformProject: String, platformName: String,
            target: String?, source: String?, newestAt: UInt64, records: [Record]
        ) {
            self.project = project
            self.name = name
            self.platformProject = platformProject
            self.platformName = platformName
            self.target = target
            self.source = source
            self.newestAt = newestAt
            self.records = records
        }
    }

    /// The user's commands and addresses.
    package struct Commands: Equatable, Sendable {
        /// Teaches the new value, or the old one again, to what accepts it.
        package var apply: String?
        /// Tells whether a deployment works with the value it should have.
        package var check: String?
        /// An address that must answer.
        package var checkURL: String?
        /// With which status.
        package var checkStatus: UInt32 = 200
        /// Ends the old value.
        package var revoke: String?

        /// Names none.
        package init() {}

        /// Tells whether a deployment is looked at by more than its variables.
        package var hasCheck: Bool { check != nil || checkURL != nil }
    }

    /// The variable.
    package let key: String
    /// The user's commands.
    package let commands: Commands
    /// Whether deployments are built anew.
    package let redeploys: Bool
    /// Whether a deployment that is built and staged is promoted.
    package let promotes: Bool
    /// What becomes of a failure.
    package let failurePolicy: FailurePolicy
    /// The longest time that one deployment, or one command, may take, in seconds.
    package let timeoutSeconds: UInt64
    /// The projects, at least one.
    package let members: [Member]

    /// Names all parts.
    package init(
        key: String, commands: Commands, redeploys: Bool, promotes: Bool = false,
        failurePolicy: FailurePolicy, timeoutSeconds: UInt64, members: [Member]
    ) {
        self.key = key
        self.commands = commands
        self.redeploys = redeploys
        self.promotes = promotes
        self.failurePolicy = failurePolicy
        self.timeoutSeconds = timeoutSeconds
        self.members = members
    }

    /// The longest command, in bytes.
    package static let commandLimit = 16 << 10
    /// The most projects of one rotation, and records of one project.
    package static let memberLimit = 1_000

    func encode(into writer: inout ByteWriter) {
        writer.text(key)
        writer.optionalText(commands.apply)
        writer.optionalText(commands.check)
        writer.optionalText(commands.checkURL)
        writer.uint32(commands.checkStatus)
        writer.optionalText(commands.revoke)
        writer.byte(redeploys ? promotes ? 2 : 1 : 0)
        writer.byte(failurePolicy.rawValue)
        writer.uint64(timeoutSeconds)
        writer.uint32(UInt32(members.count))
        for member in members { member.encode(into: &writer) }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> RotationPlan {
        let key = try reader.text(limit: VaultFormat.nameLimit)
        var commands = Commands()
        commands.apply = try reader.optionalText(limit: commandLimit)
        commands.check = try reader.optionalText(limit: commandLimit)
        commands.checkURL = try reader.optionalText(limit: VaultFormat.textLimit)
        commands.checkStatus = try reader.uint32()
        commands.revoke = try reader.optionalText(limit: commandLimit)
        let deployment = try reader.byte()
        guard deployment <= 2 else { throw RotationEntry.malformed }
        guard let policy = FailurePolicy(rawValue: try reader.byte()) else {
            throw RotationEntry.malformed
        }
        let timeout = try reader.uint64()
        let count = try reader.count(limit: memberLimit, minimumByteCount: 42, of: "projects")
        var members: [Member] = []
        for _ in 0..<count { members.append(try Member.decode(from: &reader)) }
        return RotationPlan(
            key: key, commands: commands, redeploys: deployment > 0, promotes: deployment == 2,
            failurePolicy: policy, timeoutSeconds: timeout, members: members)
    }
}

extension RotationPlan.Member {
    func encode(into writer: inout ByteWriter) {
        writer.identifier(project)
        writer.text(name)
        writer.text(platformProject)
        writer.text(platformName)
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
        let platformProject = try reader.text(limit: limit)
        let platformName = try reader.text(limit: limit)
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
            project: project, name: name, platformProject: platformProject,
            platformName: platformName, target: target, source: source, newestAt: newestAt,
            records: records)
    }
}
