internal import Sandbox

/// What the command line of `zg-env-sandbox` says.
struct SandboxArguments {
    /// A command line that cannot be understood.
    struct UsageError: Error {
        let sentence: String
    }

    /// What is to be done.
    enum Request {
        case help, version
        case start(SandboxConfiguration)
    }

    static let help = """
        zg-env-sandbox: a local API server that behaves like Vercel's.

        Usage: zg-env-sandbox [options]

          --port N                  the port on 127.0.0.1; 0 (the default) picks one
          --seed FILE               JSON that describes the first state
          --state FILE              keeps the state in FILE, and goes on from there
          --build-seconds S         how long a build takes (default 2; fractions allowed)
          --build MODE              ok, fail, ignored, blocked, keeps-old-env,
                                    alias-late:SECONDS, alias-error, staged
          --build-log FILE          what builds print besides, a line each; "$ ", "# ", "! ", "~ "
                                    and "= N" in front mean a command, a step, an error, a
                                    warning, and a command's end
          --fault 'METHOD PATH-GLOB WHAT [xN]'
                                    repeatable; METHOD may be *, WHAT is one of 429[:SECONDS],
                                    a status, reset, lost-answer, slow:SECONDS, truncate,
                                    challenge, saml, html, redirect:URL, stores-empty,
                                    drops-target, forces-sensitive, rejects-one, string-cursor,
                                    decrypts-lists, stays-open, escapes[:all or :STATUS],
                                    says:STATUS:TEXT
          --rate-limit N            at most N requests a minute for each token
          --webhook URL             tells URL (http, this machine) about every event
          --webhook-secret-file F   what those messages are signed with
          --help, --version

        When it accepts connections it prints one line: {"url":"http://127.0.0.1:PORT","token":"…"}

        """

    /// The request that the arguments make.
    static func request(_ arguments: [String]) throws -> Request {
        var configuration = SandboxConfiguration()
        var webhook: String?
        var secretFile: String?
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--help" || word == "-h" { return .help }
            if word == "--version" { return .version }
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(sides[0])
            guard names.contains(name) else {
                throw UsageError(sentence: "\(name) is no option; see --help.")
            }
            guard let value = sides.count > 1 ? String(sides[1]) : rest.popFirst() else {
                throw UsageError(sentence: "\(name) needs a value.")
            }
            switch name {
            case "--webhook": webhook = value
            case "--webhook-secret-file": secretFile = value
            default: try set(name, value, in: &configuration)
            }
        }
        configuration.webhook = try receiver(webhook, secretFile: secretFile)
        return .start(configuration)
    }

    private static let names: Set<String> = [
        "--port", "--seed", "--state", "--build-seconds", "--build", "--build-log", "--fault",
        "--rate-limit",
        "--webhook", "--webhook-secret-file",
    ]

    private static func set(
        _ name: String, _ value: String, in configuration: inout SandboxConfiguration
    ) throws {
        func refused(_ what: String) -> UsageError {
            UsageError(sentence: "\(name) needs \(what), not \"\(value)\".")
        }
        switch name {
        case "--port":
            guard let port = UInt16(value) else { throw refused("a number from 0 to 65535") }
            configuration.port = port
        case "--seed":
            guard let bytes = FileBytes.read(value, maximum: 1 << 26) else {
                throw UsageError(sentence: "The seed file \(value) cannot be read.")
            }
            do {
                configuration.seed = try Seed(json: bytes)
            } catch {
                throw UsageError(sentence: error.reason)
            }
        case "--state":
            guard !value.isEmpty else { throw refused("a file") }
            configuration.stateFile = value
        case "--build-seconds":
            guard let seconds = Seconds.value(of: value) else {
                throw refused("a number of seconds")
            }
            configuration.buildSeconds = seconds
        case "--build":
            guard let build = BuildMode(value) else { throw refused("a build mode") }
            configuration.build = build
        case "--build-log":
            guard let bytes = FileBytes.read(value, maximum: 1 << 26) else {
                throw UsageError(sentence: "The log file \(value) cannot be read.")
            }
            configuration.buildLog = String(decoding: bytes, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if configuration.buildLog?.last == "" { configuration.buildLog?.removeLast() }
        case "--fault":
            guard let fault = Fault(value) else {
                throw refused("'METHOD PATH-GLOB WHAT [xN]'")
            }
            configuration.faults.append(fault)
        default:
            guard let limit = Int(value), limit > 0 else { throw refused("a number above 0") }
            configuration.requestsPerMinute = limit
        }
    }

    private static func receiver(_ url: String?, secretFile: String?) throws
        -> SandboxConfiguration.WebhookReceiver?
    {
        guard url != nil || secretFile != nil else { return nil }
        guard let url, let secretFile else {
            throw UsageError(sentence: "--webhook and --webhook-secret-file go together.")
        }
        guard SandboxConfiguration.WebhookReceiver.isDeliverable(url) else {
            throw UsageError(sentence: "--webhook needs an http address on this machine.")
        }
        guard var bytes = FileBytes.read(secretFile, maximum: 4096) else {
            throw UsageError(sentence: "The secret file \(secretFile) cannot be read.")
        }
        if bytes.last == 0x0A { bytes.removeLast() }
        guard let secret = String(validating: bytes, as: UTF8.self), !secret.isEmpty else {
            throw UsageError(sentence: "The secret file \(secretFile) holds no text.")
        }
        return SandboxConfiguration.WebhookReceiver(url: url, secret: secret)
    }
}
