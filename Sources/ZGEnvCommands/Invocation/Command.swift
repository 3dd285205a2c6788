package import CommandLineKit
package import JSON
internal import Sealing

/// One command: its description, and what it does.
package protocol Command {
    /// What the parser takes and what help, man page and completions say.
    static var spec: CommandSpec { get }

    /// Does the work and returns what is to be shown.
    static func run(_ invocation: Invocation) throws -> CommandResult
}

/// One use of one command.
package struct Invocation {
    /// The command with its options and arguments.
    package let command: ParsedCommand
    /// The global options.
    package let options: GlobalOptions
    /// The outside.
    package let context: Context
    /// The vault, opened when it is asked for.
    package let session: VaultSession
    /// Who is told and asked in place of the terminal, where another command does this one's work.
    var attendant: Attendant?

    /// Is told and asked in place of the terminal.
    struct Attendant {
        /// Gets every note.
        let note: (String) -> Void
        /// Shows a plan and asks; false declines.
        let confirm: (_ plan: [String], _ question: String) throws -> Bool
    }

    /// Puts the parts together.
    package init(_ command: ParsedCommand, _ context: Context) throws {
        self.command = command
        self.context = context
        options = try GlobalOptions(command, context)
        session = VaultSession(
            options: options, context: context, command: command.spec.name)
    }

    /// Another command, done within this one: with its vault as it is open.
    init(
        _ command: ParsedCommand, within other: Invocation, _ context: Context,
        _ attendant: Attendant
    )
        throws
    {
        self.command = command
        self.context = context
        self.attendant = attendant
        options = try GlobalOptions(command, context)
        session = other.session
    }

    /// Shows people a message on stderr at once; nothing with `--quiet` or `--json`.
    package func note(_ message: String) throws {
        if let attendant { return attendant.note(message) }
        guard !options.quiet, !options.json else { return }
        // What was done is done, whether or not anybody can be told.
        do throws(OutputError) {
            try context.messages.write(DisplayText.safe(message) + "\n")
            try context.messages.flush()
        } catch {
            context.messages.discard()
        }
    }
}

extension Invocation {
    /// Sets what is said where a signal ends the program from here on: with `--json` the one object of
    /// stderr. For what a general sentence could not name, such as the id of what was just made; as with
    /// every error, `--quiet` does not change it.
    func setLastWords(_ message: String, hint: String) {
        // A command within another one ends with that one, which has words of its own.
        guard attendant == nil else { return }
        var text = "zg-env: \(DisplayText.safe(message))\n\(DisplayText.safe(hint))\n"
        if options.json {
            let error: JSONValue = [
                "error": [
                    "code": "interrupted", "message": .string(message), "hint": .string(hint),
                ]
            ]
            text = error.encodedText + "\n"
        }
        // A part of an object would be none: then the general words stay.
        if text.utf8.count <= Interrupts.lastWordsLimit { Interrupts.setLastWords(text) }
    }

    /// Shows a message with `--verbose` only.
    package func detail(_ message: @autoclosure () -> String) throws {
        if options.verbose { try note(message()) }
    }
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
