internal import CommandLineKit
internal import Vault

/// The parameters of one rotation.
@dynamicMemberLookup
struct RotationRequest {
    /// Where the new value comes from.
    enum Source: Equatable {
        case generator(ValueGenerator)
        /// The output of this shell command.
        case command(String)
        /// Stdin, a file or a prompt, depending on the options.
        case input
    }

    var key: String
    /// Project names; empty means the project of the options or the directory.
    var projects: [String] = []
    var alsoProjects: [String] = []
    /// Whether to include every project whose variable has the same value.
    var everywhere = false
    /// Nil means all records.
    var scope: Scope?
    /// Whether to include records with a wider scope, from which `scope` is then split off.
    var includesOverlapping = false
    var source = Source.input
    /// How the value is read and checked.
    var input = ValueInput()
    /// What the plan keeps; a limit of time is for one deployment or command.
    var options = RotationPlan.Options()
    /// Whether to rotate records whose old value is unknown.
    var allowsMissing = false
    /// Whether the new value and the vault must fit the schema.
    var checksSchema = false

    /// The options of `rotate` that are members of an item of a plan file too.
    static let specs = [
        ScopeOptions.target,
        OptionSpec(
            "also-project", value: "P", "Also rotate the variable in project P",
            repeatable: true, commaSeparated: true, completion: .dynamic(.project)),
        OptionSpec(
            flag: "everywhere", "Rotate the variable in every project where it has this value"),
        OptionSpec("from-command", value: "CMD", "Use the output of CMD as the new value"),
        OptionSpec(
            "apply", value: "CMD", "Run CMD to install the new value, or the old one on revert"),
        OptionSpec(flag: "redeploy", "Redeploy, and wait until the value is live"),
        OptionSpec(
            flag: "promote", "With --redeploy: promote staged production deployments"),
        OptionSpec(
            "check", value: "CMD", "Run CMD to check each deployment, also after a revert"),
        OptionSpec(
            "check-url", value: "URL", "Check each deployment by requesting this URL or path"),
        OptionSpec(
            "check-status", value: "N", "HTTP status that --check-url expects (default 200)",
            form: .integer(100...599)),
        OptionSpec("revoke", value: "CMD", "Run CMD to revoke the old value at the end"),
        OptionSpec(
            "on-failure", value: "WHAT",
            "Roll back or keep the changes if a step fails (default rollback)",
            form: .oneOf(["rollback", "keep"])),
        OptionSpec(
            "timeout", value: "TIME",
            "Give up on a deployment or command after TIME (default 15m)",
            form: .duration),
        OptionSpec(
            flag: "allow-missing", "Rotate even if the vault has no old value to restore"),
    ]

    /// Reads the options of `rotate`.
    init(_ command: ParsedCommand) throws {
        guard let key = command.argument("KEY") else {
            throw CommandError(
                .usage, "No variable given.",
                hint: "Run: zg-env rotate KEY, or: zg-env rotate --plan FILE")
        }
        try VariableName.check(key)
        self.key = key
        alsoProjects = command.values("also-project")
        everywhere = command.has("everywhere")
        scope = try ScopeOptions(targetsOf: command).scope()
        if let text = command.value("generate") {
            source = .generator(try ValueGenerator(text))
        } else if let text = command.value("from-command") {
            source = .command(text)
        }
        options.commands.apply = command.value("apply")
        options.commands.check = command.value("check")
        options.commands.checkURL = command.value("check-url")
        if let status = command.integer("check-status") {
            options.commands.checkStatus = UInt32(status)
        }
        options.commands.revoke = command.value("revoke")
        options.redeploys = command.has("redeploy")
        options.promotes = command.has("promote")
        if command.value("on-failure") == "keep" { options.failurePolicy = .keep }
        if let timeout = command.duration("timeout") {
            options.timeoutSeconds = UInt64(clamping: timeout.components.seconds)
        }
        allowsMissing = command.has("allow-missing")
        checksSchema = command.has("check-schema")
        input = ValueInput(command)
        guard options.commands.checkURL != nil || !command.has("check-status") else {
            throw CommandError(
                .usage, "--check-status needs --check-url.", hint: "Add --check-url.")
        }
    }

    subscript<Value>(dynamicMember option: KeyPath<RotationPlan.Options, Value>) -> Value {
        options[keyPath: option]
    }

    /// Rejects invalid combinations, before anything is read.
    func check() throws {
        for text in [options.commands.apply, options.commands.check, options.commands.revoke]
            .compactMap({ $0 })
        {
            guard !text.isEmpty, text.utf8.count <= RotationPlan.commandLimit,
                !text.utf8.contains(0)
            else {
                throw CommandError(.usage, "A command is empty or longer than 16 KiB.")
            }
        }
        if let url = options.commands.checkURL {
            guard url.utf8.count <= 2_048 else {
                throw CommandError(.usage, "The --check-url URL is longer than 2048 bytes.")
            }
            _ = try URLCheck.parts(url.hasPrefix("/") ? "https://deployment\(url)" : url)
        }
        guard options.redeploys || (options.commands.revoke == nil && !options.commands.hasCheck)
        else {
            throw CommandError(
                .usage,
                "--check, --check-url and --revoke need a deployment with the new value.",
                hint: "Add --redeploy.")
        }
        guard options.redeploys || !options.promotes else {
            throw CommandError(
                .usage, "--promote needs --redeploy.", hint: "Add --redeploy.")
        }
        guard options.timeoutSeconds > 0 else {
            throw CommandError(.usage, "--timeout must be at least one second.")
        }
    }
}
