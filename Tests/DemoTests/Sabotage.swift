import Testing

/// One way in which a step of the demo can fail.
struct Sabotage: Sendable, CustomTestStringConvertible {
    /// The step at which the demo must stop.
    let step: String
    /// A description for people.
    let fault: String
    /// The uses of `zg-env` that fail: a bash pattern over all arguments. Empty for none.
    let commands: String
    /// What such a use does instead, in bash; `zg` is the real program.
    let instead: String
    /// Additional options for the sandbox.
    let sandboxOptions: [String]

    var testDescription: String { "\(step): \(fault)" }

    private init(
        _ step: String, _ fault: String, _ commands: String = "", instead: String = "",
        sandboxOptions: [String] = []
    ) {
        self.step = step
        self.fault = fault
        self.commands = commands
        self.instead = instead
        self.sandboxOptions = sandboxOptions
    }

    /// At least one for every step.
    static let all = [
        Sabotage("sandbox", "does not start", sandboxOptions: ["--port", "none"]),
        Sabotage("init", "does nothing", "init*", instead: "exit 0"),
        Sabotage("init", "fails", "init*", instead: "exit 1"),
        Sabotage(
            "init", "leaves the vault to others", "init*",
            instead: #"zg "$@" && chmod 644 .local/share/zg-env/vault.zgv"#),
        Sabotage("import", "does nothing", "import*", instead: "exit 0"),
        Sabotage(
            "import", "loses a variable", "import*",
            instead: "grep -v ^REDIS_URL .env >cut.env; zg import cut.env -p web"),
        Sabotage(
            "import", "leaves values in plain text", "import*",
            instead: #"zg "$@" && cat .env >>.local/share/zg-env/vault.zgv"#),
        Sabotage("list", "does not name a variable", listing, instead: #"zg "$@" | sed /REDIS/d"#),
        Sabotage(
            "list", "shows a value", listing,
            instead: #"zg "$@"; zg reveal SESSION_SECRET -p web -t production"#),
        Sabotage("reveal", "changes a byte", "reveal*", instead: #"zg "$@" | tr = -"#),
        Sabotage("reveal", "adds a newline", "reveal*", instead: #"zg "$@"; echo"#),
        Sabotage("reveal", "cuts a value at its first line", "reveal*", instead: firstLine),
        Sabotage("run", "does not run the program", "run*", instead: "exit 0"),
        Sabotage("run", "loses a variable", child, instead: "\(run) -u GREETING \(environment)"),
        Sabotage("run", "changes a value", child, instead: "\(run) GREETING=hi \(environment)"),
        Sabotage("run", "adds a variable", child, instead: "\(run) ADDED=1 \(environment)"),
        Sabotage("set", "does nothing", "set*", instead: "cat >/dev/null"),
        Sabotage("set", "sets every target", "set*", instead: "zg set STRIPE_KEY -p web"),
        Sabotage("set", "adds a byte", "set*", instead: #"{ cat; echo x; } | zg "$@""#),
        Sabotage("login", "does nothing", "login*", instead: "cat >/dev/null"),
        Sabotage("login", "is refused", "login*", instead: #"echo wrong | zg "$@""#),
        Sabotage("push", "does nothing", pushing, instead: "exit 0"),
        Sabotage("push", "sends only a part", pushing, instead: "zg push GREETING -p web --yes"),
        Sabotage(
            "push", "sends a different value", pushing,
            instead: #"echo other | zg set MAIL_FROM -p web && zg "$@""#),
        Sabotage(
            "push", "is stored empty by Vercel",
            sandboxOptions: ["--fault", "* /v*/projects/*/env* stores-empty"]),
        Sabotage("redeploy", "does nothing", "redeploy*", instead: "exit 0"),
        Sabotage(
            "redeploy", "reports a deployment that does not exist", "redeploy*",
            instead: #"echo '{"id":"dpl_1","state":"READY","current":true,"previous":null}'"#),
        Sabotage(
            "redeploy", "does not wait", "redeploy*", instead: "zg redeploy -p web --yes --json",
            sandboxOptions: ["--build-seconds", "600"]),
        Sabotage("redeploy", "fails to build", sandboxOptions: ["--build", "fail"]),
        Sabotage(
            "redeploy", "builds with the previous values",
            sandboxOptions: ["--build", "keeps-old-env"]),
        Sabotage(
            "live", "does not know what is pushed", "list*--json",
            instead: #"zg "$@" | sed 's/"synced"/"ahead"/'"#),
        Sabotage(
            "live", "does not know what is live", "list*--json",
            instead: #"zg "$@" | sed 's/"live":true/"live":null/g'"#),
    ]

    private static let listing = "'list -p web'"
    private static let pushing = "'push -p web --yes'"
    private static let child = "*/bin/cat*"
    private static let run = "zg run -p web -t production --no-inherit -- /usr/bin/env"
    private static let environment = "/bin/cat /proc/self/environ"
    private static let firstLine = #"zg "$@" | head -n 1 | head -c -1"#
}
