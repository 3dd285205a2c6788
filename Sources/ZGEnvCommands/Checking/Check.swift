internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema

/// `check`: compares the declared variables with what is there.
struct Check: Command {
    static let vaultUse = VaultUse(need: .withoutToken)
    static let spec = CommandSpec(
        ["check"], "Find declared variables that are missing or invalid",
        discussion: """
            Reads .env.schema, .env.example or .env.sample in the linked directory, or the file \
            given with --schema. Nothing in the file is executed. Types are checked only for \
            values in the vault, and only if they are unlocked or the passphrase is available \
            without a prompt. --on vercel checks the variables that the next deployment will get. \
            --on live checks those that the live deployment of the target (default production) was \
            built with. Never shows values from the vault or from Vercel.
            """,
        arguments: [
            ArgumentSpec(
                "KEY", .zeroOrMore, "Check only these variables", completion: .dynamic(.variable))
        ],
        options: [
            ScopeOptions.target, ScopeOptions.branch,
            OptionSpec(
                "on", value: "SIDE", "Where to check (default vault)",
                form: .oneOf(SchemaResult.Side.allCases.map(\.rawValue)), repeatable: true,
                commaSeparated: true),
            SchemaOptions.file, SchemaOptions.notation,
            OptionSpec(flag: "strict", "Treat anything uncertain as a problem"),
            OptionSpec(
                "types", value: "FORMAT", "Instead of checking, write type declarations in FORMAT",
                form: .oneOf(TypeDeclarations.Form.allCases.map(\.rawValue))),
            OptionSpec(
                "output", short: "o", value: "FILE", "Write the declarations to FILE",
                completion: .file),
            OptionSpec(
                flag: "exit-code",
                "With --types and -o, only compare the declarations with FILE, and exit with 1 if they differ"
            ),
            OptionSpec(flag: "print", "Print what the schema declares, as JSON with --json"),
        ],
        exclusive: [["types", "print"], ["types", "on"], ["print", "on"]],
        examples: [
            .init("zg-env check", "compare the vault with the schema"),
            .init(
                "zg-env check --on vercel --on live -t production",
                "find variables that production does not have, or will not have after the next deployment"
            ),
            .init("zg-env check --types ts -o env.d.ts", "declare process.env for TypeScript"),
        ],
        exitCodes: ExitCode.ofVercel)
    static let fields = """
        results: [{
            key, target: string; on: \(oneOf: SchemaResult.Side.self)
            state: \(oneOf: SchemaResult.State.self); level: \(oneOf: SchemaResult.Level.self)
            required: boolean; type, why, description: string | null; docs: [string]
        }]
        counts: {
            \(SchemaResult.State.allCases.map(\.rawValue).joined(separator: ", ")): number
            problems, warnings: number
        }
        schema: { path: string; source: \(oneOf: Schema.Notation.self) }
        notes: [{ \(SchemaNote.fields) }]; typesChecked: boolean; \(HiddenProduction.fields)
        With --print:
        \(Schema.fields)
        With --print, if the schema is not valid:
        \(SchemaError.fields)
        With --types:
        text: string
        With --types and -o:
        file: string; changed, dryRun: boolean
        """

    private let work: Work

    private enum Work {
        case check(CheckWork)
        case declarations(TypeDeclarations)
        case print(PrintedSchema)
    }

    init(_ command: ParsedCommand) throws {
        let schema = SchemaOptions(command)
        let scope = ScopeOptions(command)
        guard
            command.choice("types") as TypeDeclarations.Form? == nil && !command.has("print")
                || command.arguments("KEY").isEmpty && !command.has("strict")
        else {
            throw CommandError(
                .usage,
                "--types and --print use the whole schema and cannot be combined with KEY or --strict."
            )
        }
        if let form: TypeDeclarations.Form = command.choice("types") {
            work = .declarations(
                TypeDeclarations(
                    form: form, options: schema, scope: scope, path: command.value("output"),
                    onlyCompares: command.has("exit-code")))
            return
        }
        guard command.value("output") == nil, !command.has("exit-code") else {
            throw CommandError(.usage, "-o and --exit-code can be used only with --types.")
        }
        if command.has("print") {
            work = .print(PrintedSchema(options: schema, scope: scope))
            return
        }
        work = .check(
            CheckWork(
                schema: schema, scope: scope, keys: try VariableName.selection(of: command),
                sides: command.values("on").compactMap { SchemaResult.Side(rawValue: $0) },
                isStrict: command.has("strict")))
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        switch work {
        case .check(let work): try work.run(in: workspace)
        case .declarations(let declarations): try declarations.run(in: workspace)
        case .print(let schema): try schema.run(in: workspace)
        }
    }
}
