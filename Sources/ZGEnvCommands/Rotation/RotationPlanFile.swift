internal import CommandLineKit
internal import JSON
internal import Vault

/// The file of `rotate --plan FILE`: JSON that lists rotations, without values.
struct RotationPlanFile {
    /// What happens to the remaining rotations when one fails.
    enum AfterFailure: String, Decodable {
        case goOn = "continue"
        case stop
    }

    let requests: [RotationRequest]
    let afterFailure: AfterFailure
    /// Whether to skip variables whose value is younger than its `--rotate-every` period.
    let onlyWhenDue: Bool

    private struct File: Decodable {
        var rotations: [Item]
        var afterFailure: AfterFailure?
        var onlyWhenDue: Bool?
    }

    private struct Item: Decodable {
        var key: String
        var project: String
        var alsoProjects: [String]?
        var everywhere: Bool?
        var targets: [String]?
        var generate: String?
        var fromCommand: String?
        var apply: String?
        var redeploy: Bool?
        var promote: Bool?
        var check: String?
        var checkURL: String?
        var checkStatus: Int?
        var revoke: String?
        var onFailure: String?
        var timeout: String?
        var allowMissing: Bool?
    }

    private static let members: Set<String> = ["rotations", "afterFailure", "onlyWhenDue"]
    private static let itemMembers: Set<String> = [
        "key", "project", "alsoProjects", "everywhere", "targets", "generate", "fromCommand",
        "apply", "redeploy", "promote", "check", "checkURL", "checkStatus", "revoke", "onFailure",
        "timeout",
        "allowMissing",
    ]

    /// Reads a plan file.
    ///
    /// - Throws: ``ExitCode/usage`` for an unreadable file and for unknown members, because a typo must
    ///   not skip a step.
    init(_ path: String) throws {
        guard let bytes = SmallFile.bytes(path) else {
            throw CommandError(
                .usage, "Cannot read the plan file \(path).")
        }
        let wrongFormat = Self.problem(
            path, "it is not JSON in the format described in docs/rotation.md")
        guard let value = try? JSONValue(parsing: bytes) else { throw wrongFormat }
        if let unknown = Self.names(value).subtracting(Self.members).min() {
            throw Self.problem(path, "unknown field \(unknown)")
        }
        for item in value["rotations"]?.array ?? [] {
            if let unknown = Self.names(item).subtracting(Self.itemMembers).min() {
                throw Self.problem(path, "unknown field \(unknown) in a rotation")
            }
        }
        guard let file = try? JSONDecoder().decode(File.self, from: bytes) else {
            throw wrongFormat
        }
        guard !file.rotations.isEmpty, file.rotations.count <= RotationPlan.memberLimit else {
            throw Self.problem(path, "it must list 1 to \(RotationPlan.memberLimit) rotations")
        }
        requests = try file.rotations.map { try Self.request($0, path) }
        afterFailure = file.afterFailure ?? .goOn
        onlyWhenDue = file.onlyWhenDue ?? false
    }

    private static func request(_ item: Item, _ path: String) throws -> RotationRequest {
        try VariableName.check(item.key)
        var request = RotationRequest(key: item.key)
        request.projects = [item.project]
        request.alsoProjects = item.alsoProjects ?? []
        request.everywhere = item.everywhere ?? false
        request.scope = try item.targets.map { try ScopeOptions.scope(named: $0) } ?? nil
        switch (item.generate, item.fromCommand) {
        case (let text?, nil): request.source = .generator(try ValueGenerator(text))
        case (nil, let command?): request.source = .command(command)
        default:
            throw problem(path, "\(item.key) needs either generate or fromCommand")
        }
        request.commands.apply = item.apply
        request.commands.check = item.check
        request.commands.checkURL = item.checkURL
        if let status = item.checkStatus {
            guard (100...599).contains(status) else {
                throw problem(path, "checkStatus of \(item.key) is not a number from 100 to 599")
            }
            request.commands.checkStatus = UInt32(status)
        }
        request.commands.revoke = item.revoke
        request.redeploys = item.redeploy ?? false
        request.promotes = item.promote ?? false
        switch item.onFailure {
        case nil, "rollback": break
        case "keep": request.failurePolicy = .keep
        default: throw problem(path, "onFailure of \(item.key) must be rollback or keep")
        }
        if let text = item.timeout {
            guard let timeout = DurationText.duration(text) else {
                throw problem(path, "timeout of \(item.key) is not a duration such as 15m")
            }
            request.timeoutSeconds = UInt64(clamping: timeout.components.seconds)
        }
        request.allowsMissing = item.allowMissing ?? false
        try request.check()
        return request
    }

    private static func problem(_ path: String, _ what: String) -> CommandError {
        CommandError(.usage, "Invalid plan file \(path): \(what).")
    }

    private static func names(_ object: JSONValue) -> Set<String> {
        Set(object.object.map { Array($0.keys) } ?? [])
    }
}
