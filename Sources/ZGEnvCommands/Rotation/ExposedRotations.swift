internal import CommandLineKit
internal import Groups
internal import JSON
internal import Sealing
internal import SharedProjects
internal import Vault

/// `rotate --exposed-to WHO`: replaces what somebody who left a group knows.
struct ExposedRotations {
    private let workspace: Workspace
    private let work: ExposureWork
    private let subject: ExposureWork.Subject
    /// The variables whose value in use is known.
    private let known: [ExposureRow]

    init(_ who: String, _ workspace: Workspace) throws {
        self.workspace = workspace
        work = ExposureWork(try GroupAccess.open(knowing: who, workspace), workspace)
        try work.requireAdmin()
        subject = try work.subject(named: who)
        known = try work.statement(of: subject, looksAtVercel: false).rows.filter {
            $0.variable.isLeft
        }
    }

    /// Whether a rotation of a plan replaces something that is known.
    func includes(_ request: RotationRequest) -> Bool {
        known.contains { Self.replaces(request, $0) }
    }

    private static func replaces(_ request: RotationRequest, _ row: ExposureRow) -> Bool {
        request.key == row.variable.name
            && (request.everywhere
                || (request.projects + request.alsoProjects).contains(row.project))
            && (request.scope.map { row.variable.scope.isIncluded(in: $0) } ?? true)
    }

    private func missing(in requests: [RotationRequest]) -> [ExposureRow] {
        known.filter { row in !requests.contains { Self.replaces($0, row) } }
    }

    /// Adds what is left now to the result of a plan.
    func finish(_ result: CommandResult, of requests: [RotationRequest]) throws -> CommandResult {
        let missing = missing(in: requests)
        if workspace.options.dryRun {
            return try self.result(
                result, missing, nil,
                failure: result.failure ?? (missing.isEmpty ? nil : lacking(missing)))
        }
        let found = try work.statement(of: subject)
        let left = found.failure(about: subject.name)
        return try self.result(
            result, missing, found,
            failure: result.failure ?? (missing.isEmpty ? left : lacking(missing)))
    }

    private func lacking(_ missing: [ExposureRow]) -> CommandError {
        CommandError(
            .failed,
            "The plan does not cover \(missing.map { "\($0.variable.name) in \($0.project)" }.joined(separator: ", ")).",
            hint: "Write recipe templates with: zg-env rotate --exposed-to "
                + "\(word: subject.name) --plan FILE --plan-skeleton NEW")
    }

    private func result(
        _ result: CommandResult, _ missing: [ExposureRow], _ found: ExposureWork.Found?,
        failure: CommandError?
    ) throws -> CommandResult {
        var text = try result.text()
        if let found {
            text += ExposureRow.table(found.rows.filter(\.isLeft), workspace.context)
            if found.isSettled {
                text += "Nothing that \(subject.name) could read is left to replace.\n"
            }
        }
        var result = result.with("exposedTo", .string(subject.name))
            .with("missing", .array(missing.map(\.json)))
            .with("exposure", found?.json(about: subject.name) ?? .null)
        result.text = { text }
        result.failure = failure
        return result
    }

    // MARK: Skeleton

    /// Writes a plan with a recipe to complete for each variable that a plan lacks. As it is, each
    /// fails before it changes anything.
    func writeSkeleton(to path: String, besides requests: [RotationRequest]) throws -> CommandResult
    {
        let missing = missing(in: requests)
        let items = missing.unique { [$0.variable.name, $0.project] }.map { row -> JSONValue in
            [
                "key": .string(row.variable.name), "project": .string(row.project),
                "fromCommand": "echo 'write a recipe first' >&2; exit 1", "redeploy": true,
            ]
        }
        let json: JSONValue = [
            "path": .string(path), "rotations": .integer(Int64(items.count)),
            "dryRun": .bool(workspace.options.dryRun),
        ]
        if items.isEmpty {
            return CommandResult(
                json: json, text: "The plan covers everything that \(subject.name) could read.\n")
        }
        if !workspace.options.dryRun {
            let plan: JSONValue = ["rotations": .array(items)]
            try Array((plan.encodedText + "\n").utf8).withBytes {
                try PrivateFile.write($0, to: path, permissions: 0o600, replaces: false)
            }
        }
        let verb = workspace.options.dryRun ? "Would write" : "Wrote"
        return CommandResult(
            json: json,
            text:
                "\(verb) \(path) with \(items.count == 1 ? "1 recipe template" : "\(items.count) recipe templates") to be completed.\n"
        )
    }
}
