package import CommandLineKit

/// The options of every command, including their environment variables.
package struct GlobalOptions {
    /// The vault's path. Empty if there is no home directory and the command needs no vault.
    package var vaultPath: String
    /// The project of the option or the variable.
    package var project: String?
    /// Whether the project comes from the option.
    var namesProject: Bool
    /// Returns whether an option is on the command line. Variables are meant for all commands, so only an
    /// option can contradict another word. One reference: these options are copied often.
    let isGiven: @Sendable (String) -> Bool
    package var account: String?
    package var team: String?
    package var apiURL: String?
    /// Whether to print one JSON value instead of text.
    package var json: Bool
    /// Whether to print no messages but errors.
    package var quiet: Bool
    /// Whether to print more messages.
    package var verbose: Bool
    /// Whether to assume yes for every question.
    package var yes: Bool
    /// Whether to stop after the plan.
    package var dryRun: Bool
    /// Whether to send nothing to Vercel.
    package var offline: Bool
    /// Whether to ask Vercel before answering.
    package var refresh: Bool
    package var passphraseDescriptor: Int32?
    package var passphraseFile: String?
    /// The file with a slot's random key.
    package var keyFile: String?
    /// Whether to read no schema.
    package var ignoresSchema: Bool
    /// The file of the audit log; nil for the default.
    package var auditLogPath: String?

    package static let specs: [OptionSpec] = [
        OptionSpec(
            "vault", value: "FILE", "Use this vault", environment: "ZG_ENV_VAULT", completion: .file
        ),
        OptionSpec(
            "project", short: "p", value: "NAME", "Use this project",
            environment: "ZG_ENV_PROJECT", completion: .dynamic(.project)),
        OptionSpec(
            "account", value: "NAME", "Use this account's token", environment: "ZG_ENV_ACCOUNT",
            completion: .dynamic(.account)),
        OptionSpec(
            "team", value: "SLUG", "Use this Vercel team", environment: "ZG_ENV_TEAM",
            completion: .dynamic(.team)),
        OptionSpec(
            "api-url", value: "URL", "Use this URL instead of Vercel's API",
            environment: "ZG_ENV_API_URL"),
        OptionSpec(flag: "json", "Print one JSON value"),
        OptionSpec(flag: "quiet", short: "q", "Omit notes and progress"),
        OptionSpec(flag: "verbose", "Print more messages"),
        OptionSpec(flag: "yes", short: "y", "Assume yes"),
        OptionSpec(flag: "dry-run", "Show the plan and stop"),
        OptionSpec(
            flag: "offline", "Do not contact Vercel", environment: "ZG_ENV_OFFLINE"),
        OptionSpec(flag: "refresh", "Ask Vercel instead of using cached data"),
        OptionSpec(
            "passphrase-fd", value: "N", "Read the passphrase from this descriptor",
            form: .integer(0...1_000_000)),
        OptionSpec(
            "passphrase-file", value: "FILE", "Read the passphrase from this file",
            environment: "ZG_ENV_PASSPHRASE_FILE", completion: .file),
        OptionSpec(
            "key-file", value: "FILE", "Open the vault with this key file",
            environment: "ZG_ENV_KEY_FILE", completion: .file),
        OptionSpec(flag: "no-schema", "Do not read the schema of the directory"),
        OptionSpec(
            "audit-log", value: "FILE", "Write the audit log to this file",
            environment: "ZG_ENV_AUDIT_LOG", completion: .file),
    ]

    /// Reads the options of a command.
    ///
    /// - Parameter need: Whether the command needs the path of a vault.
    init(_ command: ParsedCommand, _ context: Context, need: VaultRequirement) throws {
        isGiven = { command.has($0) }
        func text(_ option: String, _ variable: String) -> String? {
            command.value(option) ?? context.variable(variable)
        }
        if let path = text("vault", "ZG_ENV_VAULT") {
            vaultPath = path
        } else {
            do {
                vaultPath = try Directories(context).vault
            } catch {
                // System units have no home directory and need only a token. Package builds have none
                // either.
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
        dryRun = command.has("dry-run")
        offline = command.has("offline") || Self.isOffline(context)
        refresh = command.has("refresh")
        passphraseDescriptor = command.integer("passphrase-fd").map { Int32($0) }
        passphraseFile = command.value("passphrase-file")
        keyFile = text("key-file", "ZG_ENV_KEY_FILE")
        ignoresSchema = command.has("no-schema")
        auditLogPath = text("audit-log", "ZG_ENV_AUDIT_LOG")
        guard !(offline && refresh) else {
            throw CommandError(
                .usage, "--refresh and --offline cannot be used together.")
        }
    }

    /// Reads ZG_ENV_OFFLINE. A word that is not known must not send a request.
    private static func isOffline(_ context: Context) -> Bool {
        let word = context.variable("ZG_ENV_OFFLINE")?.lowercased() ?? ""
        return !["", "0", "false", "no", "off"].contains(word)
    }

    /// Returns the words that give another start of zg-env the same vault, keys, account and audit log.
    ///
    /// - Parameter namesVault: Whether to name the vault although it is the standard one here.
    func wordsOfAccess(_ context: Context, namesVault: Bool = false) -> [String] {
        let isStandard = !namesVault && vaultPath == (try? Directories(context).vault)
        let files = [
            ("--vault", isStandard ? nil : vaultPath),
            ("--passphrase-file", passphraseFile),
            ("--key-file", keyFile), ("--audit-log", auditLogPath),
        ].map { ($0, $1.map(context.absolute)) }
        let names = [("--account", account), ("--team", team), ("--api-url", apiURL)]
        return (files + names).flatMap { option, value in value.map { [option, $0] } ?? [] }
    }

    /// Returns the options for another command that a screen runs: the same vault and account, and all
    /// questions are asked.
    func forNestedCommand(project: String?) -> GlobalOptions {
        var options = self
        (options.project, options.namesProject) = (project, project != nil)
        (options.json, options.quiet, options.verbose, options.yes) = (false, false, false, false)
        (options.offline, options.refresh) = (false, false)
        return options
    }
}
