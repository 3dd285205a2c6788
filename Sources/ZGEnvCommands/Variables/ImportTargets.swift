internal import EnvOperations
internal import JSON
internal import Vault

/// Where the values of each imported file belong.
struct ImportTargets {
    /// What chose the targets of a file. The raw value is for scripts.
    enum Choice: String, CaseIterable {
        case option, header, answer, none
        case fileName = "file-name"
        case vercelCLI = "vercel-cli"

        /// The end of a sentence.
        fileprivate var text: String {
            switch self {
            case .option: "with -t or -b"
            case .header: "by its first lines"
            case .fileName: "by its name"
            case .vercelCLI: "because Vercel's CLI wrote it"
            case .answer: "by your answer"
            case .none: "because nothing specifies a target"
            }
        }
    }

    /// A file and its targets.
    struct File {
        let name: String
        fileprivate(set) var choice: Choice
        /// nil to keep the scope of each existing variable and give new ones the default.
        fileprivate(set) var scope: Scope?
        /// The environment in its name that the project does not have.
        fileprivate let unknown: String?
        /// The scope of new variables.
        fileprivate let standard: Scope

        var json: JSONValue {
            .object(
                [.init("file", .string(name)), .init("chosenBy", .string(choice.rawValue))]
                    + (scope ?? standard).members)
        }

        fileprivate var note: String {
            scope == nil
                ? "\(name): new variables are for \(standard.description), and existing ones keep their targets (choose others with -t)."
                : "\(name): imported for \((scope ?? standard).description), \(choice.text)."
        }
    }

    private(set) var files: [File]

    /// Whether `-t` or `-b` named the targets.
    var areNamed: Bool { files.allSatisfy { $0.choice == .option } }

    /// Reads the targets of each file.
    ///
    /// - Parameters:
    ///   - wanted: The targets of the options, which apply to all files.
    ///   - standard: The scope of new variables if nothing names a target.
    /// - Throws: ``ExitCode/usage`` for a file that no target fits.
    init(of source: PlaintextSource, wanted: Scope?, standard: Scope) throws {
        files = try source.sources.map { file in
            func made(_ choice: Choice, _ scope: Scope?, unknown: String? = nil) -> File {
                File(
                    name: file.name, choice: choice, scope: scope, unknown: unknown,
                    standard: standard)
            }
            if let wanted { return made(.option, wanted) }
            let choice: Choice =
                switch file.origin.evidence {
                case .header: .header
                case .fileName: .fileName
                case .vercelCLI: .vercelCLI
                case nil: .none
                }
            switch file.origin.target {
            case .scope(let scope):
                for name in scope.customEnvironments { try TargetName.checkCustom(name) }
                try ScopeOptions.check(scope)
                return made(choice, scope)
            case .test:
                throw CommandError(
                    .usage, "\(file.name) is for tests, and Vercel has no target for them.",
                    hint: "Nothing was imported. Choose the targets with -t.")
            case .unknown(let name) where choice == .header:
                throw CommandError(
                    .usage,
                    "The first lines of \(file.name) name a target that Vercel cannot have: \(name).",
                    hint: "Nothing was imported. Choose the targets with -t.")
            case .unknown(let name): return made(.none, nil, unknown: name)
            case .unnamed: return made(.none, nil)
            }
        }
    }

    /// Returns the targets of a file; nil to keep those of existing variables.
    func scope(ofFile index: Int) -> Scope? { files[index].scope }

    /// All targets, if every file names some.
    var all: [String]? {
        var names: [String] = []
        for file in files {
            guard let scope = file.scope else { return nil }
            for name in scope.targets.names + scope.customEnvironments where !names.contains(name) {
                names.append(name)
            }
        }
        return names
    }

    /// Whether nothing names the targets of a file.
    func isOpen(_ index: Int) -> Bool { files[index].choice == .none }

    /// Asks once for the targets of the files that name none.
    ///
    /// - Parameters:
    ///   - matters: Whether the answer makes a difference.
    ///   - environments: The custom environments of the project.
    /// - Throws: ``ExitCode/usage`` for a file that names an environment that the project does not
    ///   have, if no one can be asked.
    mutating func ask(
        _ workspace: Workspace, matters: () throws -> Bool, environments: [String]
    ) throws {
        let open = files.filter { $0.choice == .none }
        guard let first = open.first else { return }
        let options = workspace.options
        let canAsk =
            !options.yes && !options.json && !options.quiet && workspace.interaction.canConfirm
        let unknown = open.first { $0.unknown != nil }
        guard canAsk else {
            if let unknown, let name = unknown.unknown {
                throw CommandError(
                    .usage,
                    "The file name \(unknown.name) refers to \(name), which is not a target of the project.",
                    hint: "Nothing was imported. Choose the targets with -t.")
            }
            return
        }
        guard try unknown != nil || matters() else { return }
        let places =
            [Scope.Targets.development, .preview, .production].map { Scope(targets: $0) }
            + environments.prefix(5).map { Scope(targets: [], customEnvironments: [$0]) }
        let standard =
            "\(first.standard.description); existing variables keep their targets"
        let lines = places.map(\.description) + [standard]
        let names = open.map(\.name).joined(separator: ", ")
        let answer = try workspace.interaction.choose(
            ["Which targets are the variables of \(names) for?"]
                + lines.enumerated().map { "\($0 + 1)  \($1)" },
            "Targets (-t chooses others):", from: lines.indices.map { "\($0 + 1)" })
        let chosen = Int(answer).map { $0 - 1 } ?? 0
        for index in files.indices where files[index].choice == .none {
            files[index].choice = .answer
            files[index].scope = places.indices.contains(chosen) ? places[chosen] : nil
        }
    }

    /// Says where the values of each file go, and why, unless the options said so.
    func report(_ workspace: Workspace) {
        for file in files where file.choice != .option { workspace.note(file.note) }
    }
}
