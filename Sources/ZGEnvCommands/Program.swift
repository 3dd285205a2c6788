internal import CommandLineKit
internal import Glibc
internal import Release
internal import Sealing

/// The program: parses the arguments, runs one command, shows its result and returns an exit code.
package struct Program {
    private let context: Context

    /// Runs the program for this process and returns its exit code.
    package static func main() -> Int32 {
        let hardening = ProcessHardening()
        try? Interrupts.install()
        return Program(context: .live(CommandTable.program, hardening: hardening)).run()
    }

    init(context: Context) {
        self.context = context
    }

    /// Runs the command that the arguments name.
    func run() -> Int32 {
        let wantsJSON = context.arguments.prefix { $0 != Array("--".utf8) }
            .contains(Array("--json".utf8))
        let renderer = Renderer(context: context, json: wantsJSON)
        if wantsJSON { Interrupts.setInterruptionMessage(Self.interrupted) }
        do {
            if context.arguments.isEmpty, Watch.isDefault(context),
                case .command(let parsed) = try parse([Array("watch".utf8)])
            {
                return try run(parsed, renderer)
            }
            if context.arguments.isEmpty,
                let vault = try? context.variable("ZG_ENV_VAULT") ?? Directories(context).vault,
                !FileKind.isFile(vault)
            {
                try renderer.show(Self.start)
                return ExitCode.done.rawValue
            }
            switch try parse(context.arguments) {
            case .version:
                try renderer.show("zg-env \(Release.version)\n")
            case .help(let topic, let full):
                let width = TerminalDevice.columns(1) ?? 80
                let help = HelpFormatter(CommandTable.program, width: width)
                try renderer.show(help.text(on: topic, full: full))
            case .command(let parsed):
                return try run(parsed, renderer)
            }
            return ExitCode.done.rawValue
        } catch let error as UsageError where error.missing != nil {
            return runChoosing(error, renderer, isAsked: !wantsJSON)
                ?? renderer.fail(error, isRun: isRun)
        } catch {
            return renderer.fail(error, isRun: isRun)
        }
    }

    /// What to do first, where there is no vault yet. All commands would scroll it away.
    private static let start = """
        zg-env keeps environment variables in one encrypted file, runs programs with them,
        and keeps Vercel in sync. There is no vault on this machine yet.

          zg-env try           demonstrate the main commands with made-up data
          zg-env init          create a vault
          zg-env login         store a Vercel token
          zg-env link          link this directory to a project
          zg-env import .env   encrypt the variables of a file

        All commands: zg-env --help

        """

    private func parse(_ arguments: [[UInt8]]) throws(UsageError) -> ParseResult {
        try ArgumentParser(CommandTable.program).parse(bytes: arguments)
    }

    /// Runs a command whose only missing word is the project of `-p`, or one that a person at a
    /// terminal picks.
    ///
    /// - Parameter isAsked: Whether a person may be asked.
    /// - Returns: nil if no one can pick, or more is missing.
    private func runChoosing(
        _ error: UsageError, _ renderer: Renderer, isAsked: Bool
    ) -> Int32? {
        // Any word: it is replaced by the one that is picked.
        guard case .command(let parsed)? = try? parse(context.arguments + [[0x41]]) else {
            return nil
        }
        let isGiven = error.missing == .project && parsed.value("project") != nil
        guard isGiven || isAsked && Picker.hasTerminal(context) else { return nil }
        return try? run(parsed, renderer, choosing: error)
    }

    /// Parses the arguments again with the missing word.
    ///
    /// - Throws: `error` if nothing can be picked.
    private func completed(
        _ parsed: ParsedCommand, _ error: UsageError, _ workspace: Workspace
    ) throws -> ParsedCommand {
        guard let kind = error.missing,
            let word = try MissingWords(workspace: workspace).word(kind, for: parsed.spec),
            case .command(let complete) = try parse(context.arguments + [Array(word.utf8)])
        else { throw error }
        return complete
    }

    /// The JSON object for stderr when a signal ends a command with `--json`.
    private static let interrupted =
        #"{"error":{"code":"interrupted","message":"Interrupted by a signal. "#
        + #"The vault is intact.","hint":"Check what Vercel already has (zg-env status, zg-env "#
        + #"deployment list --refresh), then run the command again: zg-env push starts by checking which changes Vercel already has."}}"#
        + "\n"

    /// Whether the command is `run`; also works for arguments that cannot be parsed.
    private var isRun: Bool {
        var isValue = false
        for argument in context.arguments {
            let word = String(decoding: argument, as: UTF8.self)
            if isValue {
                isValue = false
            } else if word.hasPrefix("-") {
                if word == "--" { return false }
                let option = GlobalOptions.specs.first {
                    word == "--\($0.name)" || word == $0.short.map { "-\($0)" }
                }
                isValue = option.map { !$0.isFlag } ?? false
            } else {
                return [word] == Run.spec.path
            }
        }
        return false
    }

    /// Refuses a global option that names another project or account than the command's argument.
    private static func checkNames(_ parsed: ParsedCommand, _ options: GlobalOptions) throws {
        for argument in parsed.spec.arguments where argument.arity == .one {
            let (kind, option, name): (String, String, String?)
            switch argument.completion {
            case .dynamic(.project): (kind, option, name) = ("project", "-p", options.project)
            case .dynamic(.account):
                (kind, option, name) = ("account", "--account", options.account)
            default: continue
            }
            guard options.isGiven(kind), let word = parsed.argument(argument.name),
                word != name
            else { continue }
            throw CommandError(
                .usage, "\(argument.name) and \(option) name different \(kind)s.",
                hint: "Leave out \(option).")
        }
    }

    /// - Parameter error: The error of arguments that lack the last word of `parsed`.
    private func run(
        _ parsed: ParsedCommand, _ renderer: Renderer, choosing error: UsageError? = nil
    ) throws -> Int32 {
        guard let command = CommandTable.command(of: parsed.spec) else {
            throw CommandError(.usage, "Unknown command: \(parsed.spec.name).")
        }
        let workspace: Workspace
        do {
            // First of all, so that no child process inherits them.
            try context.secretDescriptors.withhold(namedBy: parsed, context)
            workspace = Workspace(
                try GlobalOptions(parsed, context, need: command.vaultUse.need), context,
                command: parsed.spec.name, command.vaultUse, stages: WriteStages.all)
        } catch {
            return renderer.fail(error, isRun: parsed.spec.path == Run.spec.path)
        }
        let code = run(command, parsed, workspace, renderer, choosing: error)
        if code == ExitCode.unauthorized.rawValue { workspace.dropResponsesAfterRejection() }
        return code
    }

    private func run(
        _ command: any Command.Type, _ parsed: ParsedCommand, _ workspace: Workspace,
        _ renderer: Renderer, choosing error: UsageError?
    ) -> Int32 {
        do {
            if error == nil { try Self.checkNames(parsed, workspace.options) }
            let picked = try MissingWords(workspace: workspace).project(
                for: parsed, command.vaultUse, lacksWord: error != nil)
            var workspace = picked.map(workspace.using) ?? workspace
            let parsed = try error.map { try completed(parsed, $0, workspace) } ?? parsed
            workspace.followUps = FollowUps.of(parsed)
            var result = try command.init(parsed).runAndFollow(in: workspace)
            if workspace.options.dryRun { try result.noteDryRun(workspace) }
            let code = try renderer.show(result)
            workspace.detail(
                "Guarded memory: \(SecretMemory.allocationCount) regions, "
                    + "\(SecretMemory.unlockedCount) of them not locked by the kernel.")
            return code
        } catch {
            return renderer.fail(error, isRun: command.spec.path == Run.spec.path)
        }
    }
}
