internal import CommandLineKit

/// A command that `try` runs and shows.
struct TrialStep {
    let title: String
    /// The words after `zg-env`.
    let words: [String]
    let readsToken: Bool
    let exitCode: ExitCode
    /// What an exit code other than 0 means here.
    let remark: String?

    init(
        _ title: String, _ words: String..., readsToken: Bool = false, exitCode: ExitCode = .done,
        remark: String? = nil
    ) {
        (self.title, self.words, self.readsToken) = (title, words, readsToken)
        (self.exitCode, self.remark) = (exitCode, remark)
    }

    /// The command as typed in a shell.
    var command: String { "zg-env " + words.map(ShellWord.quoted).joined(separator: " ") }

    /// The command as typed in a terminal, continued on further lines where it is too long for one.
    ///
    /// - Parameter width: nil for no limit.
    func commandLines(width: Int?) -> String {
        var (text, used) = ("zg-env", "$ zg-env".count)
        for word in words.map(ShellWord.quoted) {
            // With room for a blank and a backslash.
            let breaks = width.map { used + 1 + word.count + 2 > $0 } ?? false
            text += breaks ? " \\\n    \(word)" : " \(word)"
            used = (breaks ? 4 : used + 1) + word.count
        }
        return text
    }

    /// The variables of the made-up project.
    static let file = """
        DATABASE_URL=postgres://web@db.example/web
        DATABASE_PASSWORD=2f9c41d07be86a35
        STRIPE_KEY=sk_live_4eC39HqLyjWDarjtT1zdp7dc
        LOG_LEVEL=info

        """

    /// Creates the vault and fills it.
    static let preparation = [
        TrialStep("Create a vault.", "init", "--kdf", "interactive", "--lock"),
        TrialStep(
            "Encrypt the variables of a .env file, and delete the file.",
            "import", ".env", "-p", "web", "--remove"),
        TrialStep("Check a token and store it.", "login", readsToken: true),
    ]

    /// What the commands do with it.
    static let tour = [
        TrialStep("List the variables. Values stay encrypted.", "list", "-p", "web"),
        TrialStep(
            "Run a program with the variables in its environment.",
            "run", "-p", "web", "-t", "production", "--", "printenv", "STRIPE_KEY"),
        TrialStep("Push to Vercel, and read everything back.", "push", "-p", "web", "--yes"),
        TrialStep(
            "Replace a secret, redeploy, and prove that the new value is live.",
            "rotate", "DATABASE_PASSWORD", "-p", "web", "--generate", "hex:24", "--redeploy",
            "--yes"),
        TrialStep(
            "Replace another variable's value. Its check accepts only keys that start with "
                + "sk_live_, so it fails.",
            "rotate", "STRIPE_KEY", "-p", "web", "--generate", "hex:24", "--redeploy", "--check",
            "grep -q ^sk_live_", "--yes", exitCode: .rolledBack,
            remark: "the rotation failed and was reverted"),
        TrialStep(
            "The old value is back, and everything is pushed and live.", "list", "-p", "web"),
    ]
}
