package import CommandLineKit

/// The options that every command takes, after the environment had its say.
package struct GlobalOptions {
    /// The vault's path. Empty where there is no home directory, and none is needed.
    package var vaultPath: String
    /// The project named by option or variable.
    package var project: String?
    /// Whether it is the option that names the project.
    var namesProject: Bool
    /// The account named by option or variable.
    package var account: String?
    /// The team named by option or variable.
    package var team: String?
    /// The API's address named by option or variable.
    package var apiURL: String?
    /// One JSON value on stdout instead of text.
    package var json: Bool
    /// No messages but errors.
    package var quiet: Bool
    /// More messages.
    package var verbose: Bool
    /// Questions are answered with yes.
    package var yes: Bool
    /// What was changed while the vault was locked is the user's own doing.
    package var acceptsChanges: Bool
    /// Stop after the plan.
    package var dryRun: Bool
    /// Nothing may reach the platform.
    package var offline: Bool
    /// Ask the platform first.
    package var refresh: Bool
    /// The descriptor that the passphrase is read from.
    package var passphraseDescriptor: Int32?
    /// The file that the passphrase is read from.
    package var passphraseFile: String?
    /// The file with a slot's random key.
    package var keyFile: String?

    /// The file of the audit log, where it is not in its usual place.
    package var auditLogPath: String?

    /// The descriptions of the options.
    package static let specs: [OptionSpec] = [
        OptionSpec(
            "vault", value: "FILE", "Use this vault", environment: "ZG_ENV_VAULT", completion: .file
        ),
        OptionSpec(
            "project", short: "p", value: "NAME", "Work on this project",
            environment: "ZG_ENV_PROJECT", completion: .dynamic(.project)),
        OptionSpec(
            "account", value: "NAME", "Use this account's token", environment: "ZG_ENV_ACCOUNT",
            completion: .dynamic(.account)),
        OptionSpec(
            "team", value: "SLUG", "Work in this team", environment: "ZG_ENV_TEAM",
            completion: .dynamic(.team)),
        OptionSpec(
            "api-url", value: "URL", "Reach the platform here", environment: "ZG_ENV_API_URL"),
        OptionSpec(flag: "json", "Print one JSON value"),
        OptionSpec(flag: "quiet", short: "q", "Print no messages but errors"),
        OptionSpec(flag: "verbose", "Print more messages"),
        OptionSpec(flag: "yes", short: "y", "Answer questions with yes"),
        OptionSpec(
            flag: "accept-changes", "Accept what was changed while the vault was locked"),
        OptionSpec(flag: "dry-run", "Stop after the plan"),
        OptionSpec(
            flag: "offline", "Send nothing to the platform", environment: "ZG_ENV_OFFLINE"),
        OptionSpec(flag: "refresh", "Ask the platform before answering"),
        OptionSpec(
            "passphrase-fd", value: "N", "Read the passphrase from this descriptor",
            form: .integer(0...1_000_000)),
        OptionSpec(
            "passphrase-file", value: "FILE", "Read the passphrase from this file",
            environment: "ZG_ENV_PASSPHRASE_FILE", completion: .file),
        OptionSpec(
            "key-file", value: "FILE", "Open the vault with the key of a file slot",
            environment: "ZG_ENV_KEY_FILE", completion: .file),
        OptionSpec(
            "audit-log", value: "FILE", "Keep the audit log in this file",
            environment: "ZG_ENV_AUDIT_LOG", completion: .file),
    ]

    /// Reads the options of a command.
    ///
    /// - Parameter need: Whether the command needs a place for a vault.
    init(_ command: ParsedCommand, _ context: Context, need: VaultNeed) throws {
        func text(_ option: String, _ variable: String) -> String? {
            command.value(option) ?? context.variable(variable)
        }
        if let path = text("vault", "ZG_ENV_VAULT") {
            vaultPath = path
        } else {
            do {
                vaultPath = try Directories(context).vault
            } catch {
                // Units of the system have no home directory, and a token is all that they need. What makes
                // packages has none either.
                let hasToken = context.variable("VERCEL_TOKEN") != nil
                guard need == .never || need == .withoutToken && hasToken else { throw error }
                vaultPath = ""
            }
        }
        project = text("project", "ZG_ENV_PROJECT")
        namesProject = command.value("project") != nil
        account = text("account", "ZG_ENV_ACCOUNT")
        team = text("team", "ZG_ENV_TEAM")
        apiURL = text("api-url", "ZG_ENV_API_URL")
        json = command.has("json")
        quiet = command.has("quiet")
        verbose = command.has("verbose")
        yes = command.has("yes")
        acceptsChanges = command.has("accept-changes")
        dryRun = command.has("dry-run")
        offline = command.has("offline") || context.variable("ZG_ENV_OFFLINE") == "1"
        refresh = command.has("refresh")
        passphraseDescriptor = command.integer("passphrase-fd").map { Int32($0) }
        passphraseFile = command.value("passphrase-file")
        keyFile = text("key-file", "ZG_ENV_KEY_FILE")
        auditLogPath = text("audit-log", "ZG_ENV_AUDIT_LOG")
        guard !(offline && refresh) else {
            throw CommandError(
                .usage, "--refresh asks the platform, and --offline forbids it.",
                hint: "Leave one of them out.")
        }
    }

    /// The options of another command that a screen runs: the same vault and account, and every question
    /// is asked.
    func forAnother(project: String?) -> GlobalOptions {
        var options = self
        (options.project, options.namesProject) = (project, project != nil)
        (options.json, options.quiet, options.verbose, options.yes) = (false, false, false, false)
        (options.offline, options.refresh, options.acceptsChanges) = (false, false, false)
        return options
    }
}
