internal import CommandLineKit
internal import Release

/// The commands of `zg-env-postal`.
enum PostalTable {
    static let commands: [any (PostalCommand & Sendable).Type] = [
        ServeCommand.self, InviteCommand.self, DevicesListCommand.self, DevicesRemoveCommand.self,
        StatusCommand.self, ManualCommand.self,
    ]

    static let program = ProgramSpec(
        name: "zg-env-postal", version: Release.version,
        summary: "Relay encrypted Vercel events to a team's devices",
        discussion: """
            Receives Vercel's webhooks and passes each event to the registered devices of its \
            account, encrypted to a key that only the device has.

            All commands can use the store while the server is running.
            """,
        globalOptions: [
            OptionSpec(
                "database", value: "FILE", "Store events and devices in this SQLite file",
                environment: "ZG_ENV_POSTAL_DATABASE", completion: .file),
            OptionSpec(
                "nats", value: "URL", "Store events in NATS JetStream on these servers",
                repeatable: true, commaSeparated: true, environment: "ZG_ENV_POSTAL_NATS"),
            OptionSpec(
                "nats-credentials", value: "FILE",
                "Authenticate with the USER:PASSWORD, token or JWT in this file "
                    + "(default: nats-credentials in CREDENTIALS_DIRECTORY)",
                environment: "ZG_ENV_POSTAL_NATS_CREDENTIALS", completion: .file),
            OptionSpec(flag: "json", "Print one JSON value"),
        ],
        sections: [.init("Commands", commands.map { $0.spec })],
        groups: [.init(["devices"], "Registered devices")],
        exitCodes: [
            .init(0, "done", common: true),
            .init(1, "any other error", common: true),
            .init(2, "invalid arguments", common: true),
            .init(4, "no such device or file", common: true),
            .init(5, "another relay is using the database", common: true),
            .init(7, "the store is unavailable", common: true),
            .init(8, "the database is damaged", common: true),
            .init(
                143, "terminated by SIGTERM (130 if interrupted)", common: true
            ),
        ])
}
