package import JSON
internal import Sealing

/// The result of a command.
package struct CommandResult {
    /// The value for `--json`, built only if shown. Warnings are added if it is an object.
    package var json: () throws -> JSONValue
    /// The text for stdout, built only if shown.
    package var text: () throws -> String
    /// What was written before a question, for a screen that covers it.
    package var shownText = ""
    /// Writes data that contains values, instead of `json` and `text`.
    package var secretWriter: (() throws -> Void)?
    /// A secret of the result: one more member of `json`, and a line after `text`.
    package var secret: NamedSecret?
    /// The failure of a part of the work, next to a valid result.
    package var failure: CommandError?
    /// The exit status without a failure: that of the program for `run`, else 0.
    package var status: Int32 = 0

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

    /// Returns the result with one more member of its JSON object.
    package func with(
        _ name: String, _ value: @escaping @autoclosure () throws -> JSONValue
    ) -> CommandResult {
        var result = self
        let json = json
        result.json = {
            let own = try json()
            guard case .object(let members) = own else { return own }
            return .object(members + [.init(name, try value())])
        }
        return result
    }

    /// Creates a result whose data contains values and is written by `writer`.
    package init(writingSecrets writer: @escaping () throws -> Void) {
        json = { .null }
        text = { "" }
        secretWriter = writer
    }
}

/// A named secret in a result, such as a new recovery code.
package final class NamedSecret {
    /// The name of the member with `--json`.
    let name: String
    /// UTF-8 text.
    let bytes: SecretBytes

    init(_ name: String, _ bytes: consuming SecretBytes) {
        self.name = name
        self.bytes = bytes
    }
}
