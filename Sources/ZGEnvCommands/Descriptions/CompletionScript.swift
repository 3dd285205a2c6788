internal import CommandLineKit
internal import JSON

/// `completion`: the script that makes a shell complete the program's words.
struct CompletionScript: Command {
    static let vaultUse = VaultUse(need: .never)
    static let spec = CommandSpec(
        ["completion"], "Print the completion script of a shell", section: "Tool",
        discussion: """
            The script knows all commands and options, and asks zg-env for names of variables, \
            projects, targets, accounts and deployments while you type. Those come from the vault's \
            index and from answers that were kept: nothing is asked for, no passphrase is read and \
            nothing is sent. A vault whose index opens with a passphrase alone offers no names.

            Packages install the scripts. Without one, put the script where the shell finds it:

              bash  ~/.local/share/bash-completion/completions/zg-env
              zsh   _zg-env in a directory of $fpath, before compinit runs
              fish  ~/.config/fish/completions/zg-env.fish
            """,
        arguments: [
            ArgumentSpec(
                "SHELL", .one, "The shell",
                form: .oneOf(CompletionGenerator.Shell.allCases.map(\.rawValue)))
        ],
        examples: [
            .init(
                "zg-env completion bash >~/.local/share/bash-completion/completions/zg-env",
                "have bash complete from its next start on")
        ])

    /// Options that decide which words there are.
    static let passedOptions = [
        "vault", "project", "account", "team", "api-url", "key-file",
    ]

    private let shell: CompletionGenerator.Shell

    init(_ command: ParsedCommand) throws {
        guard let shell = CompletionGenerator.Shell(rawValue: command.required("SHELL")) else {
            throw CommandError(.usage, "That is no shell with completions.")
        }
        self.shell = shell
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let script = CompletionGenerator(workspace.context.program, passing: Self.passedOptions)
            .script(for: shell)
        return CommandResult(
            json: ["shell": .string(shell.rawValue), "script": .string(script)], text: script)
    }
}
