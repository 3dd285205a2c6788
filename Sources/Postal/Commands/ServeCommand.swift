internal import CommandLineKit
internal import Glibc
internal import JSON
internal import SystemFiles

/// `serve`: runs the relay.
enum ServeCommand: PostalCommand {
    static let spec = CommandSpec(
        ["serve"], "Receive webhooks and send events to devices",
        discussion: """
            Listens for plain HTTP. A non-local address needs a TLS proxy: specify the proxy's \
            addresses with --behind-proxy. Connections from any other address are then rejected.

            The secrets directory has one file per webhook. The file's name ends with \
            webhook.HOOK, and its content is {"account":"team_…","secret":"…"}. Vercel sends \
            events to https://HOST/webhook/HOOK. The relay rereads the directory on SIGHUP and \
            when it receives a request for an unknown webhook.

            SIGTERM stops the relay; accepted events are kept.
            """,
        options: [
            OptionSpec(
                "listen", value: "ADDR:PORT",
                "Listen on this address (default 127.0.0.1:8787; port 0: any)"),
            OptionSpec(
                "behind-proxy", value: "ADDR", "Accept connections from this proxy (repeatable)",
                repeatable: true, commaSeparated: true),
            OptionSpec(
                "webhook-secrets", value: "DIR",
                "Read webhook secrets from DIR (default: $CREDENTIALS_DIRECTORY)",
                completion: .directory),
            OptionSpec(
                "connections", value: "N", "Accept at most N connections (default 12288)",
                form: .integer(64...1_000_000)),
        ],
        examples: [
            .init(
                "zg-env-postal serve --database /var/lib/zg-env-postal/postal.db "
                    + "--webhook-secrets /etc/zg-env-postal/hooks",
                "run the relay behind a proxy on this machine")
        ])

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        var settings = try ServeSettings(command, context)
        // Before the first thread, so that all threads inherit the mask.
        ServiceSignals.block()
        settings.server.connectionLimit = try FileLimit.raise(
            for: settings.server.connectionLimit, isWanted: settings.choosesConnectionCount)
        let store = try settings.location.open(for: .serving, context)
        defer { store.close() }
        let secrets = HookSecrets(directory: settings.secrets, steady: context.clock.steady)
        secrets.read()
        let relay = Relay(store: store, secrets: secrets, clock: context.clock)
        guard let port = relay.start(settings.server) else {
            let reason = SystemError.last.reason
            relay.stop()
            throw PostalError(
                .failed, "Cannot listen on \(settings.shownAddress) (\(reason)).",
                hint: "Choose another address with --listen.")
        }
        let url = "http://\(settings.host):\(port)"
        let counts = secrets.counts
        try announce(url, counts, store.warning, json: command.has("json"))
        let notice = SystemdNotifier(context)
        notice.send("READY=1\nSTATUS=Serving at \(url). Webhooks: \(counts.hooks)")
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
        if json {
            let value: JSONValue = [
                "url": .string(url), "hooks": .integer(Int64(counts.hooks)),
                "unreadable": .integer(Int64(counts.problems)),
                "warning": .string(orNull: warning),
            ]
            return try OutputStream.write(value.encodedText + "\n", to: 1)
        }
        try OutputStream.write("Serving at \(url). Webhooks: \(counts.hooks).\n", to: 1)
        if let warning { try OutputStream.write("warning: \(warning)\n", to: 2) }
        guard counts.problems > 0 else { return }
        try OutputStream.write(
            "warning: Unreadable or malformed webhook files: \(counts.problems).\n", to: 2)
    }
}
