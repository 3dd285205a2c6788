internal import CommandLineKit
internal import Vault

/// What was changed while the values were locked, and whether the user says that it was their doing.
final class ChangesReview {
    /// The changes for people and scripts.
    let text: ChangesText
    /// What was said; nil where nothing was changed.
    private(set) var isAccepted: Bool?
    private let comparison: CheckpointComparison
    private let keys: VaultKeys
    private let invocation: Invocation

    /// Compares. Checks the code of the checkpoint.
    ///
    /// - Parameter keys: Open the values.
    init(with keys: VaultKeys, _ invocation: Invocation) throws {
        let index = try invocation.session.opened().index(with: keys, extent: .everything)
        comparison = CheckpointComparison(of: index)
        text = ChangesText(comparison, in: index)
        self.keys = keys
        self.invocation = invocation
    }

    /// Lists the changes, asks where somebody can be asked, and keeps a yes. Not to know is no error: the
    /// changes stay listed.
    func settle() throws {
        guard !comparison.isEmpty else { return }
        if invocation.options.yes {
            try show { try invocation.note($0) }
            isAccepted = try accept()
        } else if let terminal = terminal() {
            let messages = invocation.context.messages
            try show { try messages.write(DisplayText.safe($0) + "\n") }
            try messages.flush()
            isAccepted = try terminal.confirm("Are these changes yours?") ? try accept() : false
        } else {
            try show { try invocation.note($0) }
            isAccepted = false
        }
        if isAccepted == true { try invocation.note("Accepted.") }
        if isAccepted == false {
            try invocation.note(
                "They stay listed. If they are yours, say so with: zg-env unlock --yes")
        }
    }

    private func show(_ write: (String) throws -> Void) throws {
        try write("\(text.sentence):")
        for line in text.lines() { try write("  \(line)") }
    }

    private func terminal() -> TerminalDevice? {
        invocation.options.json ? nil : try? TerminalDevice()
    }

    /// Keeps the yes. A vault that cannot be written now goes on listing them.
    private func accept() throws -> Bool {
        do {
            try invocation.session.update(with: keys) { [comparison] in try $0.accept(comparison) }
            return true
        } catch let error as VaultError
            where [.busy, .inputOutput, .insecure, .notConfirmed].contains(error.code)
        {
            invocation.context.warn(
                "not-accepted",
                "That these changes are yours could not be kept: "
                    + CommandError.sentence(error.reason))
            return false
        }
    }
}
