internal import CommandLineKit
internal import JSON

/// `completion`: prints the completion script of a shell.
struct CompletionScript: Command {
    static let vaultUse = VaultUse(need: .never)
    static let spec = CommandSpec(
        ["completion"], "Print the completion script for a shell",
        discussion: """
            The script completes commands and options, and the names of variables, projects, \
            targets, accounts and deployments. Names come from the vault's index and the response \
            cache: completion never prompts and sends no requests. If only a passphrase opens the \
            index, no names are offered.

            The Debian package and "make install" install the scripts. Otherwise, save the script to:

              bash  ~/.local/share/bash-completion/completions/zg-env
              zsh   _zg-env in a directory of $fpath, before compinit runs; or put
                    source <(zg-env completion zsh) after compinit in ~/.zshrc
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
                "enable completion in new bash sessions")
        ])
    static let fields = "shell: \(oneOf: CompletionGenerator.Shell.self); script: string"

    /// The options that affect which words there are.
    static let passedOptions = [
        "vault", "project", "account", "team", "api-url", "key-file",
    ]

    private let shell: CompletionGenerator.Shell

    init(_ command: ParsedCommand) throws {
        guard let shell = CompletionGenerator.Shell(rawValue: command.required("SHELL")) else {
            throw CommandError(.usage, "SHELL must be bash, zsh or fish.")
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
