internal import CommandLineKit
internal import Glibc
internal import Sealing

/// The program: arguments in, one command run, its result shown, an exit code out.
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
        if wantsJSON { Interrupts.setLastWords(Self.interrupted) }
        do {
            switch try ArgumentParser(CommandTable.program).parse(bytes: context.arguments) {
            case .version:
                try renderer.show("zg-env \(CommandTable.version)\n")
            case .help(let topic):
                let width = TerminalDevice.columns(1) ?? 80
                let help = HelpFormatter(CommandTable.program, width: width)
                try renderer.show(help.text(on: topic))
            case .command(let parsed):
                return try run(parsed, renderer)
            }
            return ExitCode.done.rawValue
        } catch {
            return renderer.fail(error, isRun: isRun)
        }
    }

    /// The one object on stderr of a command with `--json` that a signal ends.
    private static let interrupted =
        #"{"error":{"code":"interrupted","message":"Stopped by a signal before the end. "#
        + #"The vault is whole.","hint":"See what the platform did already (zg-env status, zg-env "#
        + #"deployment list --refresh), then run it again: a push first looks at what arrived."}}"#
        + "\n"

    /// Tells whether the arguments name `run` as the command, for those that cannot be parsed.
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

    private func run(_ parsed: ParsedCommand, _ renderer: Renderer) throws -> Int32 {
        guard let command = CommandTable.command(of: parsed.spec) else {
            throw CommandError(.usage, "There is no command \(parsed.spec.name).")
        }
        let workspace: Workspace
        do {
            // Before anything else: whatever is started from here on does not get them.
            try context.secretDescriptors.withhold(namedBy: parsed, context)
            workspace = Workspace(
                try GlobalOptions(parsed, context, need: command.vaultUse.need), context,
                command: parsed.spec.name, command.vaultUse)
        } catch {
            return renderer.fail(error, isRun: parsed.spec.path == Run.spec.path)
        }
        let code = run(command, parsed, workspace, renderer)
        if code == ExitCode.unauthorized.rawValue { workspace.dropAnswersAfterRefusal() }
        return code
    }

    private func run(
        _ command: any Command.Type, _ parsed: ParsedCommand, _ workspace: Workspace,
        _ renderer: Renderer
    ) -> Int32 {
        do {
            let result = try command.init(parsed).run(in: workspace)
            let code = try renderer.show(result)
            workspace.detail(
                "Guarded memory: \(SecretMemory.allocationCount) regions, of which the kernel locked "
                    + "all but \(SecretMemory.unlockedCount).")
            return code
        } catch {
            return renderer.fail(error, isRun: command.spec.path == Run.spec.path)
        }
    }
}
