internal import CommandLineKit

/// The commands of `zg-env-postal`.
enum PostalTable {
    static let version = "0.1.0"
    /// Of the manual pages.
    static let date = "November 22, 2026"

    static let commands: [any (PostalCommand & Sendable).Type] = [
        ServeCommand.self, InviteCommand.self, DevicesListCommand.self, DevicesRemoveCommand.self,
        StatusCommand.self, ManualCommand.self,
    ]

    static let program = ProgramSpec(
        name: "zg-env-postal", version: version,
        summary: "Hands the platform's events, sealed, to the devices of a team",
        discussion: """
            The platform sends its webhooks here; each registered device gets those of its accounts, \
            sealed to a key that only the device has.

            All commands work on the same store, also while the server runs.
            """,
        globalOptions: [
            OptionSpec(
                "database", value: "FILE", "Keep events and devices in this SQLite file",
                environment: "ZG_ENV_POSTAL_DATABASE", completion: .file),
            OptionSpec(
                "nats", value: "URL", "Keep them in NATS JetStream at these servers",
                repeatable: true, commaSeparated: true, environment: "ZG_ENV_POSTAL_NATS"),
            OptionSpec(
                "nats-credentials", value: "FILE",
                "Log in there with USER:PASSWORD, a token or the JWT in this file "
                    + "(nats-credentials in CREDENTIALS_DIRECTORY)",
                environment: "ZG_ENV_POSTAL_NATS_CREDENTIALS", completion: .file),
            OptionSpec(flag: "json", "Print one JSON value"),
        ],
        commands: commands.map { $0.spec },
        groups: [.init(["devices"], "Registered devices")],
        exitCodes: [
            .init(0, "done", common: true),
            .init(1, "failed for a reason not listed", common: true),
            .init(2, "wrong arguments", common: true),
            .init(4, "no such device or file", common: true),
            .init(5, "another relay has the database", common: true),
            .init(7, "the store does not answer", common: true),
            .init(8, "the database is damaged", common: true),
            .init(
                143, "ended by SIGTERM; 130 by an interrupt. Nothing accepted is lost", common: true
            ),
        ])
}
