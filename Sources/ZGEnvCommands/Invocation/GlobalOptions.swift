package import CommandLineKit

/// The options that every command takes, after the environment had its say.
package struct GlobalOptions {
    /// The vault's path. Empty where there is no home directory, and none is needed.
    package let vaultPath: String
    /// The project named by option or variable.
    package let project: String?
    /// The account named by option or variable.
    package let account: String?
    /// The team named by option or variable.
    package let team: String?
    /// The API's address named by option or variable.
    package let apiURL: String?
    /// One JSON value on stdout instead of text.
    package let json: Bool
    /// No messages but errors.
    package let quiet: Bool
    /// More messages.
    package let verbose: Bool
    /// Questions are answered with yes.
    package let yes: Bool
    /// What was changed while the vault was locked is the user's own doing.
    package let acceptsChanges: Bool
    /// Stop after the plan.
    package let dryRun: Bool
    /// Nothing may reach the platform.
    package let offline: Bool
    /// Ask the platform first.
    package let refresh: Bool
    /// The descriptor that the passphrase is read from.
    package let passphraseDescriptor: Int32?
    /// The file that the passphrase is read from.
    package let passphraseFile: String?
    /// The file with a slot's random key.
    package let keyFile: String?

    /// The file of the audit log, where it is not in its usual place.
    package let auditLogPath: String?

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
        ChangesReview.option,
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
    package init(_ command: ParsedCommand, _ context: Context) throws {
        func text(_ option: String, _ variable: String) -> String? {
            command.value(option) ?? context.variable(variable)
        }
        if let path = text("vault", "ZG_ENV_VAULT") {
            vaultPath = path
        } else {
            do {
                vaultPath = try Directories(context).vault
            } catch {
                // Units of the system have no home directory, and a token is all that they need.
                guard Self.mayLackVault(command, context) else { throw error }
                vaultPath = ""
            }
        }
        project = text("project", "ZG_ENV_PROJECT")
        account = text("account", "ZG_ENV_ACCOUNT")
        team = text("team", "ZG_ENV_TEAM")
        apiURL = text("api-url", "ZG_ENV_API_URL")
        json = command.has("json")
        quiet = command.has("quiet")
        verbose = command.has("verbose")
        yes = command.has("yes")
        acceptsChanges = command.has(ChangesReview.option.name)
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

    /// Tells whether a command does its work without a vault.
    private static func mayLackVault(_ command: ParsedCommand, _ context: Context) -> Bool {
        let path = command.spec.path
        // What makes packages has no home directory either.
        if [Convert.spec, ManualPages.spec, CompletionScript.spec].contains(where: {
            $0.path == path
        }) {
            return true
        }
        guard context.variable("VERCEL_TOKEN") != nil else { return false }
        return path == Redeploy.spec.path || path == ProjectList.spec.path
            || path.first == DeploymentList.spec.path.first
    }
}
