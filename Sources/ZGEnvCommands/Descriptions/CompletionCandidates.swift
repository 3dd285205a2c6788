internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// `__complete`: prints completion words for the shells' completion scripts.
///
/// It never prompts, sends no request, and omits words that are not available offline.
struct CompletionCandidates: Command {
    static let vaultUse = VaultUse(showsNamesOnly: true)
    static let spec = CommandSpec.completionCallback

    struct Candidate: Equatable {
        let word: String
        var meaning = ""
    }

    private let kind: DynamicCompletion
    private let prefix: String

    init(_ command: ParsedCommand) throws {
        guard let kind = DynamicCompletion(rawValue: command.required("KIND")) else {
            throw CommandError(.usage, "KIND is invalid.")
        }
        self.kind = kind
        prefix = command.argument("PREFIX") ?? ""
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let found = Self.shown(try candidates(workspace), startingWith: prefix)
        return CommandResult(
            json: [
                "candidates": .array(
                    found.map { ["word": .string($0.word), "meaning": .string($0.meaning)] })
            ],
            text: found.reduce(into: "") { text, candidate in
                text += candidate.word
                if !candidate.meaning.isEmpty { text += "\t\(candidate.meaning)" }
                text += "\n"
            })
    }

    /// Returns the candidates that start with `prefix`, sorted and unique. Omits words that change
    /// when sanitized: the shell would insert a different word.
    static func shown(_ candidates: [Candidate], startingWith prefix: String) -> [Candidate] {
        var seen: Set<String> = []
        return candidates.filter { candidate in
            candidate.word.utf8.starts(with: prefix.utf8) && !candidate.word.isEmpty
                && DisplayText.safe(candidate.word) == candidate.word
                && seen.insert(candidate.word).inserted
        }.sorted { $0.word.utf8.lexicographicallyPrecedes($1.word.utf8) }
            .map { Candidate(word: $0.word, meaning: DisplayText.safe($0.meaning)) }
    }

    private func candidates(_ workspace: Workspace) throws -> [Candidate] {
        // Errors of the vault are left to the command itself.
        guard let keys = try? workspace.session.keysWithoutPrompt(waits: false) else {
            return kind == .target ? targets(of: []) : []
        }
        let resolver = ProjectResolver(workspace)
        // No candidate is a variable of another project.
        let index = try workspace.session.index(.listing, with: keys) {
            try? resolver.existing(in: $0)
        }
        switch kind {
        case .variable:
            let project = try resolver.existing(in: index)
            return index.variables(of: project.id).map {
                Candidate(word: $0.name, meaning: $0.attributes.scope.description)
            }
        case .target:
            let project = try? resolver.existing(in: index)
            return targets(of: project.map { index.variables(of: $0.id) } ?? [])
        case .project:
            let kept: VercelResponses.Timed<[Project]>? =
                try VercelResponses(workspace, keys: keys, index: index).kept(.projects, nil)
            return index.projects.map { Candidate(word: $0.name, meaning: "in the vault") }
                + (kept?.answer ?? []).map {
                    Candidate(word: $0.name, meaning: "on Vercel")
                }
        case .account: return index.accounts.map { Candidate(word: $0.name, meaning: $0.username) }
        case .team:
            return (index.accounts.map(\.teamSlug) + index.projects.map { $0.binding?.teamSlug })
                .compactMap { $0 }.map { Candidate(word: $0) }
        case .deployment, .deploymentID: return try deployments(workspace, keys, index)
        }
    }

    private func targets(of variables: [Variable]) -> [Candidate] {
        Scope.Targets.all.names.map { Candidate(word: $0) }
            + variables.flatMap(\.attributes.scope.customEnvironments).map {
                Candidate(word: $0, meaning: "custom environment")
            }
    }

    /// Returns the ids, URLs and branches of cached deployments, and the words for two of them.
    private func deployments(
        _ workspace: Workspace, _ keys: VaultKeys, _ index: VaultIndex
    ) throws -> [Candidate] {
        guard let binding = try ProjectResolver(workspace).existing(in: index).binding else {
            return []
        }
        let now = workspace.context.now()
        let answers = try VercelResponses(workspace, keys: keys, index: index)
        let (cached, newest) = answers.cachedDeployments(of: binding)
        let current = newest?.current
        let ids = cached.flatMap { deployment in
            let meaning = DeploymentListing.summary(
                of: deployment, isCurrent: deployment.id == current, now: now)
            return [deployment.id, deployment.url].compactMap { $0 }.map {
                Candidate(word: $0, meaning: meaning)
            }
        }
        guard kind == .deployment else { return ids }
        let words = [
            Candidate(word: "latest", meaning: "the newest deployment"),
            Candidate(word: "live", meaning: "the live deployment"),
        ]
        let branches = Set(cached.compactMap(\.branch)).filter(NamedDeployment.isBranchLike).map {
            Candidate(word: $0, meaning: "the newest deployment of this branch")
        }
        return words + ids + branches
    }
}
