internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import Searching
internal import Vault

struct Run: Command {
    static let spec = CommandSpec(
        ["run"], "Run a program with the variables in its environment",
        discussion: """
            The program replaces the zg-env process (exec): it inherits the file descriptors, \
            receives signals directly, and its exit code is returned. Variables already set in the \
            shell take precedence; their names are listed on stderr. Fails if the shell has \
            another target's value of a variable. Exits with 125 if zg-env fails, 126 if the \
            program cannot be executed and 127 if it is not found. With --redact, zg-env keeps \
            running and masks values in the output, including their base64 and JSON-escaped \
            forms, and each line of 16 bytes or more of a multi-line value. Other forms, such as hexadecimal or values split by color \
            codes, are not masked.
            """,
        arguments: [ArgumentSpec("CMD", .restAfterDashes, "The program and its arguments")],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            VariableName.option("only", "Pass only these variables"),
            VariableName.option("require", "Fail unless these variables have a value"),
            OptionSpec(flag: "override", "Use the vault's values instead of the shell's"),
            OptionSpec(flag: "no-inherit", "Do not pass the shell's environment"),
            OptionSpec(
                flag: "check", "Fail if a variable that the schema requires is missing or invalid"),
            OptionSpec(
                flag: "redact", "Mask values of 6 bytes or more in the program's output"),
            PlaceValues.allowMissing,
        ],
        examples: [
            .init("zg-env run -- npm run dev", "run with the development variables"),
            .init(
                "zg-env run -p web -t production -- ./migrate", "run with the production variables"),
        ],
        exitCodes: [125, 126, 127])
    static let fields = """
        With --dry-run:
        keys: [string]; dryRun: true
        """

    private let options: ScopeOptions
    private let only: Set<String>?
    private let required: [String]
    private let allowsMissing: Bool
    private let inherits: Bool
    private let overrides: Bool
    private let redacts: Bool
    private let checks: Bool
    /// The index of the program in the arguments of this process.
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
        checks = command.has("check")
        programIndex = command.restIndex
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        switch try start(workspace) {
        case .planned(let result): return result
        case .supervised(let supervisor):
            var result = CommandResult {}
            result.status = try supervisor.run()
            return result
        }
    }

    /// What is left to do after the values are released.
    private enum Start {
        case planned(CommandResult)
        case supervised(ProgramSupervisor)
    }

    private func start(_ workspace: Workspace) throws -> Start {
        let found = try PlaceValues(
            workspace, options, only: only, checksFirst: false, allowsMissing: allowsMissing,
            startsProgram: true)
        let present = required.isEmpty ? [] : Set(found.values.map(\.name))
        if let missing = required.first(where: { !present.contains($0) }) {
            throw CommandError(
                .notFound,
                "\(missing) is required, but has no value in \(found.project.name) for \(found.place)."
            )
        }
        try checkEntries(found.values)
        try checkSchema(found, workspace)
        // Reads cached responses only for a person, and only without --only.
        if only == nil, !workspace.options.quiet, !workspace.options.json,
            TerminalDevice.isTerminal(workspace.context.messages.descriptor),
            let remark = try found.sharedVariablesNote(workspace)
        {
            workspace.note(remark)
        }
        if inherits {
            try found.checkShell(workspace.context.rawEnvironment, overrides: overrides)
        }
        let environment = try ChildEnvironment(
            inherited: inherits ? workspace.context.rawEnvironment : [],
            values: found.values, overrides: overrides, survivesFork: redacts)
        try reportShadowed(environment, workspace)
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
        throw failure
    }

    /// Compares the environment of the program with the schema: requires it to fit, or shows one line.
    private func checkSchema(_ found: PlaceValues, _ workspace: Workspace) throws {
        guard let advice = try found.schemaAdvice(requires: checks, workspace),
            advice.isRequired
                || (only == nil && !workspace.options.quiet && !workspace.options.json)
        else { return }
        let inherited =
            inherits ? ChildEnvironment.values(of: workspace.context.rawEnvironment) : [:]
        let look = found.schemaLook(inherited: inherited, overrides: overrides)
        let problems = try advice.problems([look], only: only)
        try advice.require(problems, of: found.project.name, "The program was not started.")
        if let line = advice.line(problems) { workspace.note("\(line) (zg-env check).") }
    }

    /// Shows the warnings and writes to the audit log that the values are revealed.
    private func begin(
        _ environment: ChildEnvironment, _ found: PlaceValues, _ workspace: Workspace
    ) throws {
        // With --json, stderr belongs to the program unless zg-env fails.
        if !workspace.options.json { workspace.context.showWarnings() }
        try found.audit(workspace, except: environment.keptFromShell)
        try workspace.context.output.flush()
        try workspace.context.messages.flush()
    }

    /// Writes the failure to the audit log. Without this entry, the one before says that the values
    /// were revealed, which is the safe reading.
    private func noteFailure(
        _ environment: ChildEnvironment, _ found: PlaceValues, _ workspace: Workspace
    ) {
        try? found.audit(
            workspace, except: environment.keptFromShell, outcome: AuditEntry.Outcome.failed)
    }

    /// Starts the program as a child process. The caller then drops the keys and values.
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
                "Not masked (shorter than \(ValuePatterns.shortest) bytes): \(names).")
        }
        let patterns = try ValuePatterns(
            found.values.map(\.value), shortestLine: ValuePatterns.shortestLine)
        try begin(environment, found, workspace)
        do {
            let supervisor = try ProgramSupervisor(
                program, environment: environment, patterns: patterns,
                hardening: workspace.context.hardening)
            workspace.session.dropKeys()
            return supervisor
        } catch {
            noteFailure(environment, found, workspace)
            throw error
        }
    }

    /// Refuses entries above the kernel's limit of 32 pages of 4 KiB, and names that contain `=`.
    private func checkEntries(_ values: [RevealedValue]) throws {
        let limit = 128 << 10
        // Indexed, because copying an element retains each of its parts.
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
                throw CommandError(.usage, "\(name) is not a valid environment variable name.")
            }
            throw CommandError(
                .usage,
                "The value of \(name) is longer than an environment variable can be (128 KiB).",
                hint:
                    "Use --only to leave \(name) out, and read it with: zg-env reveal \(word: name)"
            )
        }
    }

    private func reportShadowed(
        _ environment: ChildEnvironment, _ workspace: Workspace
    ) throws {
        func list(_ names: [String]) -> String { names.sorted().joined(separator: ", ") }
        if !environment.keptFromShell.isEmpty {
            workspace.note(
                "Using the shell's value of \(list(environment.keptFromShell)) (--override prefers the vault)."
            )
        }
        if !environment.overridden.isEmpty {
            workspace.note(
                "Overriding the shell's value of \(list(environment.overridden)).")
        }
    }
}
