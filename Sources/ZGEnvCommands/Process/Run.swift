internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import Searching
internal import Vault

/// `run`: replaces itself by a program that has the variables in its environment.
struct Run: Command {
    static let spec = CommandSpec(
        ["run"], "Run a program with the variables in its environment", section: "Variables",
        discussion: """
            zg-env becomes the program: same process, same descriptors, its exit status and signals. \
            What the shell has set wins and is named. zg-env's own failures are 125; 126 means that \
            the program cannot be executed, 127 that there is none. With --redact zg-env stays in \
            between: values that the program writes are masked, also in base64. A value in another \
            form, such as hexadecimal or parted by colours, is not found.
            """,
        arguments: [ArgumentSpec("CMD", .restAfterDashes, "The program and its arguments")],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "only", value: "K", "Hand over these variables and no others", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(
                "require", value: "K", "Fail unless these variables are there", repeatable: true,
                commaSeparated: true, completion: .dynamic(.variable)),
            OptionSpec(flag: "override", "Let the vault win over what the shell has set"),
            OptionSpec(flag: "no-inherit", "Hand over nothing of the shell's environment"),
            OptionSpec(
                flag: "redact", "Mask values of 6 bytes or more in what the program writes"),
            PlaceValues.allowMissing,
        ],
        examples: [
            .init("zg-env run -- npm run dev", "run with the variables of development"),
            .init("zg-env run -p web -t production -- ./migrate", "run with those of production"),
        ],
        exitCodes: [125, 126, 127])

    private let options: ScopeOptions
    private let only: Set<String>?
    private let required: [String]
    private let allowsMissing: Bool
    private let inherits: Bool
    private let overrides: Bool
    private let redacts: Bool
    /// Where the program and its arguments begin in this process's own.
    private let programIndex: Int?

    init(_ command: ParsedCommand) {
        options = ScopeOptions(command)
        let only = command.values("only")
        self.only = only.isEmpty ? nil : Set(only)
        required = command.values("require")
        allowsMissing = command.has("allow-missing")
        inherits = !command.has("no-inherit")
        overrides = command.has("override")
        redacts = command.has("redact")
        programIndex = command.restIndex
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        switch try start(workspace) {
        case .planned(let result): return result
        case .supervised(let supervisor):
            var result = CommandResult {}
            result.status = supervisor.run()
            return result
        }
    }

    /// What is left to do once the values are gone from this process.
    private enum Start {
        case planned(CommandResult)
        case supervised(ProgramSupervisor)
    }

    private func start(_ workspace: Workspace) throws -> Start {
        let found = try PlaceValues(
            workspace, options, only: only, allowsMissing: allowsMissing)
        let present = required.isEmpty ? [] : Set(found.values.map(\.name))
        if let missing = required.first(where: { !present.contains($0) }) {
            throw CommandError(
                .notFound,
                "\(missing) is required, and \(found.project.name) has no value for it here."
            )
        }
        try checkEntries(found.values)
        // What is kept of the platform's answers is read for people alone, and not where they chose the names.
        if only == nil, !workspace.options.quiet, !workspace.options.json,
            TerminalDevice.isTerminal(workspace.context.messages.descriptor),
            let remark = try found.remarkOnShared(workspace)
        {
            workspace.note(remark)
        }
        let environment = try ChildEnvironment(
            inherited: inherits ? workspace.context.rawEnvironment : [],
            values: found.values, overrides: overrides, survivesFork: redacts)
        try tellShadowed(environment, workspace)
        let kept = Set(environment.keptFromShell)
        for place in found.values.indices {
            let name = found.values[place].name
            guard let warning = CodeLoadingName.warning(about: name), !kept.contains(name) else {
                continue
            }
            workspace.context.warn(warning.code, warning.message)
        }
        if workspace.options.dryRun {
            return .planned(
                CommandResult(
                    json: [
                        "keys": .strings(found.values.map(\.name)), "dryRun": true,
                    ],
                    text: found.values.map { DisplayText.safe($0.name) + "\n" }.joined()))
        }
        let program = ProgramReplacement(
            workspace.context.arguments(from: programIndex),
            path: workspace.context.variable("PATH"))
        if redacts { return .supervised(try redacted(program, environment, found, workspace)) }
        try begin(environment, found, workspace)
        let failure = program.execute(
            environment: environment, hardening: workspace.context.hardening)
        noteFailure(environment, found, workspace)
        throw RunFailure(failure)
    }

    /// Says what is to be said, and has the log say that values go out.
    private func begin(
        _ environment: ChildEnvironment, _ found: PlaceValues, _ workspace: Workspace
    ) throws {
        // With --json stderr is the program's, but for a failure.
        if !workspace.options.json { workspace.context.showWarnings() }
        try found.audit(workspace, except: environment.keptFromShell)
        try workspace.context.output.flush()
        try workspace.context.messages.flush()
    }

    /// The line before says that values went out; where this one cannot be written, that stands.
    private func noteFailure(
        _ environment: ChildEnvironment, _ found: PlaceValues, _ workspace: Workspace
    ) {
        try? found.audit(
            workspace, except: environment.keptFromShell, outcome: AuditEntry.Outcome.failed)
    }

    /// Starts the program beside this process. What that took of keys and values is gone after it.
    private func redacted(
        _ program: ProgramReplacement, _ environment: ChildEnvironment, _ found: PlaceValues,
        _ workspace: Workspace
    ) throws -> ProgramSupervisor {
        let short = found.values.filter {
            $0.value.count > 0 && $0.value.count < ValuePatterns.shortest
        }
        if !short.isEmpty {
            let names = short.map(\.name).joined(separator: ", ")
            workspace.note(
                "Too short to be masked (under \(ValuePatterns.shortest) bytes): \(names).")
        }
        let patterns = try ValuePatterns(found.values.map(\.value))
        try begin(environment, found, workspace)
        do {
            let supervisor = try ProgramSupervisor(
                program, environment: environment, patterns: patterns,
                hardening: workspace.context.hardening)
            workspace.session.forgetKeys()
            return supervisor
        } catch {
            noteFailure(environment, found, workspace)
            throw error
        }
    }

    /// The kernel takes no entry of an environment that is longer than 32 pages of 4 KiB, and a name with
    /// a sign in it is another name.
    private func checkEntries(_ values: [RevealedValue]) throws {
        let limit = 128 << 10
        // By place: a whole value that is taken out of an array is counted once for each of its parts.
        for place in values.indices {
            var name = values[place].name
            let (count, holdsSign) = name.withUTF8 { bytes in
                let found = unsafe bytes.baseAddress.flatMap {
                    unsafe memchr($0, 0x3D, bytes.count)
                }
                return (bytes.count, unsafe found != nil)
            }
            guard holdsSign || count + 1 + values[place].value.count + 1 > limit else { continue }
            guard !holdsSign else {
                throw CommandError(.usage, "\(name) is no name for an environment variable.")
            }
            throw CommandError(
                .usage, "The value of \(name) is longer than an environment can hold (128 KiB).",
                hint: "Name the variables to hand over with --only, and read this one with reveal.")
        }
    }

    private func tellShadowed(
        _ environment: ChildEnvironment, _ workspace: Workspace
    ) throws {
        func list(_ names: [String]) -> String { names.sorted().joined(separator: ", ") }
        if !environment.keptFromShell.isEmpty {
            workspace.note(
                "Set by the shell, and kept: \(list(environment.keptFromShell)) (--override turns that round)."
            )
        }
        if !environment.overridden.isEmpty {
            workspace.note(
                "Set by the shell, and overridden: \(list(environment.overridden)).")
        }
    }
}
