internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// Runs the rotations of a plan file. Each succeeds or is reverted by itself; `afterFailure` in the file
/// decides about the rest.
struct PlannedRotations {
    private let workspace: Workspace
    private let file: RotationPlanFile
    private let input: ValueInput
    private let checksSchema: Bool
    private let exposed: ExposedRotations?

    /// - Parameters:
    ///   - input: The checks of values that commands print.
    ///   - checksSchema: Whether new values and the vault must fit the schema.
    ///   - exposed: Limits the plan to what somebody knows.
    init(
        _ path: String, _ input: ValueInput, checksSchema: Bool, only exposed: ExposedRotations?,
        _ workspace: Workspace
    ) throws {
        self.exposed = exposed
        (self.input, self.checksSchema, self.workspace) = (input, checksSchema, workspace)
        file = try RotationPlanFile(path)
    }

    func result() throws -> CommandResult {
        let result = try rotateAll()
        return try exposed?.finish(result, of: file.requests) ?? result
    }

    private func rotateAll() throws -> CommandResult {
        var items: [JSONValue] = []
        var text = ""
        var failures: [CommandError] = []
        for var request in file.requests {
            request.input = input
            request.checksSchema = checksSchema
            let key = request.key
            if let exposed, !exposed.includes(request) {
                items.append(item(key, outcome: "not_exposed"))
                continue
            }
            if file.onlyWhenDue, try isNotDue(request) {
                items.append(item(key, outcome: "not_due"))
                text += "\(DisplayText.safe(key)): not due yet\n"
                continue
            }
            var failure: CommandError?
            do {
                let result = try RotationWork(workspace: workspace).rotate(request)
                failure = result.failure
                items.append(try item(result.json(), failure))
                text += try result.text()
            } catch {
                let mapped = CommandError(mapping: error)
                // A question that cannot be asked fails the same way for all of them.
                if mapped.code == .usage, !workspace.options.yes, !workspace.options.dryRun,
                    !workspace.interaction.canConfirm
                {
                    throw mapped
                }
                failure = mapped
                items.append(item(key, outcome: .null, failure))
                text += "\(DisplayText.safe(sentence: "\(key): \(mapped.message)"))\n"
            }
            guard let failure else { continue }
            failures.append(failure)
            if file.afterFailure == .stop { break }
        }
        return CommandResult(
            json: ["rotations": .array(items)], text: text, failure: worst(failures))
    }

    static let fields = """
        id?: string; key: string
        projects: [{ \(RotationReport.projectFields); reason?: string | null }]
        outcome: "done" | "unchanged" | "rolled_back" | "needs_attention" | "not_due" | "not_exposed" | null
        open?, revoked?: boolean; failure?: string | null; startedAt?: time; endedAt?: time | null
        dryRun?: true; error: null | { code, message: string }
        """

    /// Returns the item of a rotation that has no result.
    private func item(
        _ key: String, outcome: JSONValue, _ failure: CommandError? = nil
    ) -> JSONValue {
        item(["key": .string(key), "projects": [], "outcome": outcome], failure)
    }

    private func item(_ json: JSONValue, _ failure: CommandError?) -> JSONValue {
        guard case .object(let members) = json else { return json }
        let error: JSONValue =
            failure.map {
                ["code": .string(orNull: $0.code.name), "message": .string($0.message)]
            } ?? .null
        return .object(members + [.init("error", error)])
    }

    /// Returns the failure that needs attention most, with the number of failures.
    private func worst(_ failures: [CommandError]) -> CommandError? {
        var worst =
            failures.first { $0.code == .needsAttention }
            ?? failures.first { $0.code == .rolledBack } ?? failures.first
        if file.requests.count > 1, let failure = worst {
            worst?.message =
                "\(failures.count) of \(file.requests.count) rotations failed. \(failure.message)"
        }
        return worst
    }

    /// Returns whether all records are younger than their periods. A record without a period is never
    /// due; false if a project or variable is missing.
    private func isNotDue(_ request: RotationRequest) throws -> Bool {
        let index = try workspace.session.index(.currentValues)
        let names = request.projects + request.alsoProjects
        let found = names.compactMap { index.project(named: $0)?.id }
        let projects = Set(found)
        guard found.count == names.count,
            projects.allSatisfy({ project in
                index.variables(of: project).contains { $0.name == request.key }
            })
        else { return false }
        return !RotationDue.records(in: index, now: workspace.context.now()).contains {
            $0.name == request.key && projects.contains($0.project)
        }
    }
}
