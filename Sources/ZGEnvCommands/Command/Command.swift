package import CommandLineKit
package import JSON
internal import Sealing

/// One command: its description, and what it does.
package protocol Command {
    /// What the parser takes and what help, man page and completions say.
    static var spec: CommandSpec { get }

    /// How it opens the vault, where that is special.
    static var vaultUse: VaultUse { get }

    /// Reads its options and arguments.
    init(_ command: ParsedCommand) throws

    /// Does the work and returns what is to be shown.
    func run(in workspace: Workspace) throws -> CommandResult
}

extension Command {
    package static var vaultUse: VaultUse { VaultUse() }
}

/// What a command gives back to be shown.
package struct CommandResult {
    /// For `--json`: one value, put together only where it is shown. Warnings are added to an object.
    package var json: () throws -> JSONValue
    /// For people, on stdout; put together only where it is shown.
    package var text: () throws -> String
    /// Writes data that holds values, in place of `json` and `text`.
    package var secretWriter: (() throws -> Void)?
    /// A secret that belongs to the result: a further member of `json`, and a line behind `text`.
    package var secret: NamedSecret?
    /// What went wrong in a part, beside a result that stands.
    package var failure: CommandError?
    /// The exit status where nothing went wrong: that of a program for `run`, else 0.
    package var status: Int32 = 0

    /// Makes a result.
    package init(
        json: @escaping @autoclosure () throws -> JSONValue,
        text: @escaping @autoclosure () throws -> String = "",
        secret: NamedSecret? = nil,
        failure: CommandError? = nil
    ) {
        self.json = json
        self.text = text
        self.secret = secret
        self.failure = failure
    }

    /// Makes a result whose data holds values and is written by `writer`.
    package init(writingSecrets writer: @escaping () throws -> Void) {
        json = { .null }
        text = { "" }
        secretWriter = writer
    }
}

/// A secret that a command gives out by name, such as a new recovery code.
package final class NamedSecret {
    /// The name of its member with `--json`.
    let name: String
    /// Text in UTF-8.
    let bytes: SecretBytes

    /// Takes both.
    init(_ name: String, _ bytes: consuming SecretBytes) {
        self.name = name
        self.bytes = bytes
    }
}
