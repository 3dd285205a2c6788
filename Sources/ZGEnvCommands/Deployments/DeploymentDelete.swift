internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// `deployment delete`: deletes deployments permanently.
struct DeploymentDelete: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["deployment", "delete"], "Delete deployments permanently",
        discussion: """
            The URLs of deleted deployments stop working, including links in pull requests. Live \
            and unfinished deployments cannot be deleted; if such a deployment is given, nothing \
            is deleted.
            """,
        arguments: [
            ArgumentSpec(
                "DEPLOYMENT", .oneOrMore, "IDs, host names or URLs",
                completion: .dynamic(.deploymentID))
        ],
        examples: [
            .init("zg-env deployment delete dpl_1 dpl_2 --dry-run", "show what would be deleted"),
            .init("zg-env deployment delete dpl_1 --yes --json", "delete in a script"),
        ],
        exitCodes: ExitCode.ofVercel, aliases: [["deployment", "rm"]])
    static let fields =
        "deleted: [{ \(DeploymentListing.fields) }]; failed: [{ id, reason: string }]; dryRun?: true"

    private let deployments: [String]

    init(_ command: ParsedCommand) { deployments = command.arguments("DEPLOYMENT") }

    func run(in workspace: Workspace) throws -> CommandResult {
        var chosen: [NamedDeployment] = []
        for text in deployments {
            let named = try NamedDeployment(text, workspace, isExact: true)
            if let refusal = named.actions.deletionRefusal {
                throw CommandError(refusal, of: named.deployment.id, "Nothing was deleted.")
            }
            guard !chosen.contains(where: { $0.deployment.id == named.deployment.id }) else {
                continue
            }
            chosen.append(named)
        }
        let plan = chosen.flatMap(lines)
        let question =
            chosen.count == 1
            ? "Delete this deployment permanently?"
            : "Delete these \(chosen.count) deployments permanently?"
        if try !workspace.confirm(plan, question) {
            return CommandResult(
                json: [
                    "deleted": .array(
                        chosen.map { DeploymentListing.json($0.deployment, current: false) }),
                    "failed": [], "dryRun": true,
                ],
                text: DisplayText.lines(plan, after: "Would "))
        }
        var deleted: [NamedDeployment] = []
        var failed: [(NamedDeployment, CommandError)] = []
        for named in chosen {
            do {
                try named.change(workspace) { try delete(named) }
                deleted.append(named)
                workspace.note("Deleted \(named.deployment.id).")
            } catch {
                failed.append((named, CommandError(mapping: error)))
            }
        }
        return CommandResult(
            json: [
                "deleted": .array(
                    deleted.map { DeploymentListing.json($0.deployment, current: false) }),
                "failed": .array(
                    failed.map { named, error in
                        [
                            "id": .string(named.deployment.id),
                            "reason": .string(error.message),
                        ]
                    }),
            ], failure: failure(failed, of: chosen.count))
    }

    private func lines(_ named: NamedDeployment) -> [String] {
        let deployment = named.deployment
        let commit = DeploymentListing.firstLine(deployment.commitMessage ?? "")
        return [
            "delete \(deployment.id) of \(named.project.name) for \(DeploymentListing.target(of: deployment))"
                + (commit.isEmpty ? "" : " (\(commit))")
        ]
            + (deployment.aliases.isEmpty
                ? [] : ["with \(deployment.aliases.joined(separator: ", "))"])
    }

    /// Deletes one deployment, and checks that it is gone.
    private func delete(_ named: NamedDeployment) throws {
        let id = named.deployment.id
        var doubt: VercelAPIError?
        do throws(VercelAPIError) {
            _ = try named.client.deleteDeployment(id)
        } catch {
            switch error.code {
            case .notFound, .unavailable, .outcomeUnknown, .malformedAnswer:
                // Vercel may have deleted it although the response was lost.
                doubt = error
            case .badRequest, .conflict, .notPossible:
                throw CommandError(
                    .conflict, "Vercel refused to delete \(id)." + error.saying,
                    hint:
                        "The deployment still exists. Check with: zg-env deployment show \(word: id)"
                )
            default: throw error
            }
        }
        let left: Deployment
        do throws(VercelAPIError) {
            left = try named.client.deployment(id)
        } catch {
            if [.notFound, .gone].contains(error.code) { return }
            if let doubt { throw doubt }
            throw CommandError(
                .unavailable,
                "Vercel accepted the deletion of \(id), but the result could not be checked.",
                hint: "Check whether the deployment is gone: zg-env deployment show \(word: id)")
        }
        guard left.state == .deleted else {
            if let doubt, doubt.code != .notFound { throw doubt }
            throw CommandError(
                .failed, "Vercel reported \(id) as deleted, but still shows it.",
                hint: "Check again in a minute: zg-env deployment show \(word: id)")
        }
    }

    private func failure(
        _ failed: [(NamedDeployment, CommandError)], of count: Int
    ) -> CommandError? {
        guard let first = failed.first?.1 else { return nil }
        guard count > 1 else { return first }
        let codes = Set(failed.map(\.1.code))
        let only = codes.count == 1 ? codes.first : nil
        return CommandError(
            only.map { [.unauthorized, .unavailable].contains($0) ? $0 : .failed } ?? .failed,
            "Could not delete \(failed.count) of \(count) deployments: "
                + failed.map(\.0.deployment.id).joined(separator: ", ") + ". \(first.message)",
            hint: first.hint)
    }
}
