internal import CommandLineKit
internal import Vault

/// What the user wants of one rotation, from the options or from one item of a plan's file.
struct RotationRequest {
    /// Where the new value comes from.
    enum Source: Equatable {
        case generator(ValueGenerator)
        /// What this command of the user's prints.
        case command(String)
        /// Stdin, a file or a prompt, as the options say.
        case input
    }

    /// The variable.
    var key: String
    /// Projects by their names in the vault; none for the one of the options and the directory.
    var projects: [String] = []
    /// Further ones.
    var alsoProjects: [String] = []
    /// Every project whose variable holds the same value.
    var everywhere = false
    /// The scope that is meant; nil for all records.
    var scope: Scope?
    /// Whether records that hold the scope and more are meant too: it is parted from them then.
    var takesHolders = false
    /// Where the new value comes from.
    var source = Source.input
    /// How a value that is given is read, and what is checked of it.
    var input = ValueInput()
    /// The user's commands.
    var commands = RotationPlan.Commands()
    /// Whether deployments are built anew.
    var redeploys = false
    /// Whether what is built and staged is promoted.
    var promotes = false
    /// What becomes of a failure.
    var failurePolicy = RotationPlan.FailurePolicy.rollback
    /// The longest time of one deployment or command, in seconds.
    var timeoutSeconds: UInt64 = 900
    /// Whether a record whose old value nobody has is rotated even so.
    var allowsMissing = false

    init(key: String) {
        self.key = key
    }

    /// Reads the options of `rotate`.
    init(_ command: ParsedCommand) throws {
        guard let key = command.argument("KEY") else {
            throw CommandError(
                .usage, "No variable is named.",
                hint: "Name the one to rotate, or a file of several with --plan.")
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
        input = ValueInput(command)
    }

    /// Refuses what cannot be meant, before anything is looked at.
    func check() throws {
        for text in [commands.apply, commands.check, commands.revoke].compactMap({ $0 }) {
            guard !text.isEmpty, text.utf8.count <= RotationPlan.commandLimit,
                !text.utf8.contains(0)
            else {
                throw CommandError(.usage, "A command is empty, or longer than 16 KiB.")
            }
        }
        if let url = commands.checkURL {
            guard url.utf8.count <= 2_048 else {
                throw CommandError(.usage, "The address of --check-url is too long.")
            }
            _ = try AddressCheck.parts(url.hasPrefix("/") ? "https://deployment\(url)" : url)
        }
        guard redeploys || (commands.revoke == nil && !commands.hasCheck) else {
            throw CommandError(
                .usage,
                "--check, --check-url and --revoke are about a deployment that has the new value.",
                hint: "Say --redeploy too.")
        }
        guard redeploys || !promotes else {
            throw CommandError(
                .usage, "--promote is about the deployment that --redeploy builds.",
                hint: "Say --redeploy too.")
        }
        guard timeoutSeconds > 0 else {
            throw CommandError(.usage, "The time limit is none.")
        }
    }
}
