internal import Sandbox
internal import SystemFiles

/// The parsed command line of `zg-env-sandbox`.
struct SandboxArguments {
    /// An invalid command line.
    struct UsageError: Error {
        let sentence: String
    }

    enum Request {
        case help, version
        /// `endsWithInput`: Whether the server ends when standard input is closed.
        case start(SandboxConfiguration, endsWithInput: Bool)
    }

    static let help = """
        zg-env-sandbox: a local API server that behaves like Vercel's.

        Usage: zg-env-sandbox [options]

          --port N                  port on 127.0.0.1 (default 0: the system picks one)
          --seed FILE               start from the state that this JSON file describes
          --state FILE              keep the state in FILE and continue from it
          --build-seconds S         how long a build takes (default 2; fractions allowed)
          --build MODE              ok, fail, ignored, blocked, keeps-old-env,
                                    alias-late:SECONDS, alias-never, alias-error, staged
          --build-log FILE          additional build output, one line each; a leading "$ ", "# ",
                                    "! ", "~ " or "= N" marks a command, a step, an error, a
                                    warning or a command's end
          --fault 'METHOD PATH-GLOB WHAT [@N] [xN]'
                                    repeatable; METHOD may be *; @N: from the Nth matching
                                    request on; xN: N times; WHAT is one of 429[:SECONDS], a
                                    status, reset, lost-answer, slow:SECONDS, truncate, drip,
                                    challenge[:CODE], saml,
                                    html, redirect:URL, ongoing[:SENTENCE], stores-nothing,
                                    returns-old-record, stores-empty, drops-target,
                                    forces-sensitive, rejects-one, hides-values,
                                    silent-batch[:some|one|all|empty][,keeps=all][,status=200],
                                    echoes-value:KEY[,as=base64|percent|hex|upper]
                                    [,in=message|code|failed][,status=N][,code=CODE],
                                    string-cursor, decrypts-lists, stays-open,
                                    escapes[:all or :STATUS], says:STATUS:TEXT, or before:ACT or
                                    then:ACT: a change made in the dashboard before or after the
                                    request, such as set,key=K,value=V,by=self|other|nobody|USER
          --rate-limit N[/S]        at most N requests per minute, or per S seconds, for each token;
                                    "vercel" for Vercel's limits by endpoint
          --latency S               delay every response by S; 100ms means 0.1
          --clock-offset S          offset of its clock from this machine's; may be negative
          --date-offset S           offset of the Date header from its clock
          --max-variables N         maximum variables per environment (default 1000)
          --webhook URL             send every event to URL (http, this machine)
          --webhook-secret-file F   sign webhooks with the secret in F
          --until-stdin-closes      end when standard input is closed, for a program that starts it
          --help, --version

        When it is ready for connections, it prints one line:
        {"url":"http://127.0.0.1:PORT","token":"…"}

        """

    /// Parses the arguments.
    static func request(_ arguments: [String]) throws -> Request {
        var configuration = SandboxConfiguration()
        var endsWithInput = false
        var webhook: String?
        var secretFile: String?
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--help" || word == "-h" { return .help }
            if word == "--version" { return .version }
            if word == "--until-stdin-closes" {
                endsWithInput = true
                continue
            }
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(sides[0])
            guard names.contains(name) else {
                throw UsageError(sentence: "Unknown option \(name). See zg-env-sandbox --help.")
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
        return .start(configuration, endsWithInput: endsWithInput)
    }

    private static let names: Set<String> = [
        "--port", "--seed", "--state", "--build-seconds", "--build", "--build-log", "--fault",
        "--rate-limit", "--latency", "--clock-offset", "--date-offset", "--max-variables",
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
            let bytes = try read("seed", value, limit: 1 << 26)
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
            let bytes = try read("log", value, limit: 1 << 26)
            configuration.buildLog = String(decoding: bytes, as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if configuration.buildLog?.last == "" { configuration.buildLog?.removeLast() }
        case "--fault":
            guard let fault = Fault(value) else {
                throw refused("'METHOD PATH-GLOB WHAT [@N] [xN]'")
            }
            configuration.faults.append(fault)
        case "--rate-limit":
            guard value != RateLimit.vercelWord else {
                configuration.rateLimit = .perEndpoint
                break
            }
            let parts = value.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let limit = Int(parts[0]), limit > 0,
                let seconds = parts.count == 2 ? Seconds.value(of: parts[1]) : 60, seconds > 0
            else { throw refused("a number above 0, two as in 100/10, or vercel") }
            configuration.rateLimit = .perToken(requests: limit, seconds: seconds)
        case "--latency":
            guard let seconds = Seconds.value(of: value) else {
                throw refused("a number of seconds")
            }
            configuration.latencySeconds = seconds
        case "--clock-offset":
            configuration.clockOffsetSeconds = try offset(value, refused)
        case "--date-offset":
            configuration.dateOffsetSeconds = try offset(value, refused)
        default:
            guard let maximum = Int(value), (0...100_000).contains(maximum) else {
                throw refused("a number from 0 to 100000")
            }
            configuration.maximumVariables = maximum
        }
    }

    private static func read(_ kind: String, _ path: String, limit: Int) throws -> [UInt8] {
        guard let bytes = OpenFile.wholeBytes(of: path, limit: limit, waits: true) else {
            throw UsageError(sentence: "Cannot read the \(kind) file \(path).")
        }
        return bytes
    }

    private static func offset(_ text: String, _ refused: (String) -> UsageError) throws -> Double {
        guard let seconds = Double(text), abs(seconds) <= 10 * 365 * 86400 else {
            throw refused("a number of seconds, at most ten years")
        }
        return seconds
    }

    private static func receiver(_ url: String?, secretFile: String?) throws
        -> SandboxConfiguration.WebhookReceiver?
    {
        guard url != nil || secretFile != nil else { return nil }
        guard let url, let secretFile else {
            throw UsageError(sentence: "--webhook and --webhook-secret-file must be used together.")
        }
        guard SandboxConfiguration.WebhookReceiver.isDeliverable(url) else {
            throw UsageError(sentence: "--webhook needs an http URL on this machine.")
        }
        var bytes = try read("secret", secretFile, limit: 4096)
        if bytes.last == 0x0A { bytes.removeLast() }
        guard let secret = String(validating: bytes, as: UTF8.self), !secret.isEmpty else {
            throw UsageError(sentence: "The secret file \(secretFile) is not text.")
        }
        return SandboxConfiguration.WebhookReceiver(url: url, secret: secret)
    }
}
