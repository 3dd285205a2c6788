internal import CommandLineKit
internal import Vault

/// The parameters of one rotation, from the options or from one item of a plan file.
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
    var commands = RotationPlan.Commands()
    var redeploys = false
    /// Whether staged deployments are promoted.
    var promotes = false
    var failurePolicy = RotationPlan.FailurePolicy.rollback
    /// The limit for one deployment or command.
    var timeoutSeconds: UInt64 = 900
    /// Whether to rotate records whose old value is unknown.
    var allowsMissing = false
    /// Whether the new value and the vault must fit the schema.
    var checksSchema = false

    init(key: String) {
        self.key = key
    }

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
        commands.apply = command.value("apply")
        commands.check = command.value("check")
        commands.checkURL = command.value("check-url")
        if let status = command.integer("check-status") { commands.checkStatus = UInt32(status) }
        commands.revoke = command.value("revoke")
        redeploys = command.has("redeploy")
        promotes = command.has("promote")
        if command.value("on-failure") == "keep" { failurePolicy = .keep }
        if let timeout = command.duration("timeout") {
            timeoutSeconds = UInt64(clamping: timeout.components.seconds)
        }
        allowsMissing = command.has("allow-missing")
        checksSchema = command.has("check-schema")
        input = ValueInput(command)
    }

    /// Rejects invalid combinations, before anything is read.
    func check() throws {
        for text in [commands.apply, commands.check, commands.revoke].compactMap({ $0 }) {
            guard !text.isEmpty, text.utf8.count <= RotationPlan.commandLimit,
                !text.utf8.contains(0)
            else {
                throw CommandError(.usage, "A command is empty or longer than 16 KiB.")
            }
        }
        if let url = commands.checkURL {
            guard url.utf8.count <= 2_048 else {
                throw CommandError(.usage, "The --check-url URL is longer than 2048 bytes.")
            }
            _ = try URLCheck.parts(url.hasPrefix("/") ? "https://deployment\(url)" : url)
        }
        guard redeploys || (commands.revoke == nil && !commands.hasCheck) else {
            throw CommandError(
                .usage,
                "--check, --check-url and --revoke need a deployment with the new value.",
                hint: "Add --redeploy.")
        }
        guard redeploys || !promotes else {
            throw CommandError(
                .usage, "--promote needs --redeploy.", hint: "Add --redeploy.")
        }
        guard timeoutSeconds > 0 else {
            throw CommandError(.usage, "--timeout must be at least one second.")
        }
    }
}
