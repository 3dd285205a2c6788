internal import CommandLineKit
internal import Glibc
internal import JSON
internal import SystemFiles

/// `serve`: the relay.
enum ServeCommand: PostalCommand {
    static let spec = CommandSpec(
        ["serve"], "Take webhooks, and hand events to devices", section: "Service",
        discussion: """
            Listens for plain HTTP. On another address than this machine's own, it only does so behind a \
            proxy that ends TLS: name the proxy's addresses with --behind-proxy, and nobody else may \
            connect.

            Each webhook has a file in the directory of secrets, whose name ends with webhook.HOOK and \
            which holds {"account":"team_…","secret":"…"}. The platform then sends to \
            https://HOST/webhook/HOOK. The directory is read again when a hook is not known, and on \
            SIGHUP.

            SIGTERM ends it: what was accepted is kept, and streams end.
            """,
        options: [
            OptionSpec(
                "listen", value: "ADDR:PORT",
                "Listen here (127.0.0.1:8787; port 0 lets the system choose)"),
            OptionSpec(
                "behind-proxy", value: "ADDR", "Let this TLS proxy connect; several may be named",
                repeatable: true, commaSeparated: true),
            OptionSpec(
                "webhook-secrets", value: "DIR",
                "Read webhooks' secrets here (CREDENTIALS_DIRECTORY)", completion: .directory),
            OptionSpec(
                "connections", value: "N", "Hold at most so many connections (12288)",
                form: .integer(64...1_000_000)),
        ],
        examples: [
            .init(
                "zg-env-postal serve --database /var/lib/zg-env-postal/postal.db "
                    + "--webhook-secrets /etc/zg-env-postal/hooks",
                "serve to a proxy on this machine")
        ])

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        var settings = try ServeSettings(command, context)
        // Before the first thread, so that all of them leave these signals to this one.
        ServiceSignals.block()
        settings.server.connectionLimit = try FileLimit.raise(
            for: settings.server.connectionLimit, isWanted: settings.wantsConnections)
        let store = try settings.location.open(for: .serving, context)
        defer { store.close() }
        let secrets = HookSecrets(directory: settings.secrets, steady: context.clock.steady)
        secrets.read()
        let relay = Relay(store: store, secrets: secrets, clock: context.clock)
        guard let port = relay.start(settings.server) else {
            let reason = SystemError.last.reason
            relay.stop()
            throw PostalError(
                .failed, "The address \(settings.shownAddress) cannot be listened on (\(reason)).",
                hint: "Name another one with --listen.")
        }
        let url = "http://\(settings.host):\(port)"
        let counts = secrets.counts
        try announce(url, counts, store.warning, json: command.has("json"))
        let notice = ServiceNotice(context)
        notice.send("READY=1\nSTATUS=Serving \(counts.hooks) webhooks at \(url)")
        var due = context.clock.steady() + 5_000
        var failures = FailureReport()
        while true {
            switch ServiceSignals.wait(milliseconds: 1_000) {
            case SIGHUP: secrets.read()
            case let signal?:
                notice.send("STOPPING=1")
                relay.stop()
                return PostalResult(json: nil, text: "", status: 128 + signal)
            case nil: break
            }
            relay.tick()
            due = relay.pruneIfDue(due)
            failures.tell(relay.metrics.storeFailures.value, now: context.clock.steady())
        }
    }

    private static func announce(
        _ url: String, _ counts: (hooks: Int, problems: Int), _ warning: String?, json: Bool
    ) throws {
        let output = OutputStream(descriptor: 1)
        if json {
            let value: JSONValue = [
                "url": .string(url), "hooks": .integer(Int64(counts.hooks)),
                "unreadable": .integer(Int64(counts.problems)),
                "warning": warning.map { .string($0) } ?? .null,
            ]
            try output.write(value.encodedText + "\n")
        } else {
            try output.write("Serving at \(url), \(counts.hooks) webhooks.\n")
        }
        try output.flush()
        guard !json else { return }
        if let warning { try warn(warning) }
        guard counts.problems > 0 else { return }
        try warn("\(counts.problems) files of webhooks cannot be read, or have another form.")
    }

    private static func warn(_ text: String) throws {
        let messages = OutputStream(descriptor: 2)
        try messages.write("warning: \(text)\n")
        try messages.flush()
    }
}
