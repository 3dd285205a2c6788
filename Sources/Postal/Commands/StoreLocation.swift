internal import CommandLineKit
internal import Glibc

/// Where events and devices are stored.
enum StoreLocation: Equatable {
    /// A SQLite file.
    case database(path: String)
    case nats(NATSSettings)

    enum Purpose {
        /// A relay; a file has at most one at a time.
        case serving
        /// A command that reads or changes it, also while a relay serves.
        case managing
    }

    /// Parses the options, with the environment as fallback.
    init(_ command: ParsedCommand, _ context: PostalContext) throws {
        let file = command.value("database")
        let servers = command.values("nats")
        switch (file, servers.isEmpty) {
        case (.some, false):
            throw PostalError(.usage, "--database and --nats cannot be used together.")
        case (let file?, true): self = .database(path: file)
        case (nil, false): self = .nats(try Self.settings(servers, command, context))
        case (nil, true):
            if let file = context.variable("ZG_ENV_POSTAL_DATABASE") {
                self = .database(path: file)
            } else if let servers = context.variable("ZG_ENV_POSTAL_NATS") {
                let list = servers.split(separator: ",").map(String.init)
                self = .nats(try Self.settings(list, command, context))
            } else {
                throw PostalError(
                    .usage, "No store given.",
                    hint: "Specify a file with --database FILE or NATS servers with --nats URL.")
            }
        }
    }

    private static func settings(
        _ servers: [String], _ command: ParsedCommand, _ context: PostalContext
    ) throws -> NATSSettings {
        guard servers.allSatisfy(NATSSettings.isAddress) else {
            throw PostalError(
                .usage, "--nats takes nats://HOST:PORT or tls://HOST:PORT.",
                hint:
                    "Put the user name and password, or the token, in a file: --nats-credentials FILE."
            )
        }
        guard Set(servers.map { $0.hasPrefix("tls://") }).count == 1 else {
            throw PostalError(
                .usage, "Use tls:// for all NATS servers or for none of them.",
                hint: "Use tls:// for all of them.")
        }
        var file =
            command.value("nats-credentials") ?? context.variable("ZG_ENV_POSTAL_NATS_CREDENTIALS")
        if file == nil, let directory = context.variable("CREDENTIALS_DIRECTORY") {
            let path = "\(directory)/nats-credentials"
            if unsafe access(path, F_OK) == 0 { file = path }
        }
        return NATSSettings(servers: servers, credentialsFile: file)
    }

    func open(for purpose: Purpose, _ context: PostalContext) throws -> any PostalStore {
        switch self {
        case .database(let path):
            return try SQLiteStore(
                path: path, createsFile: purpose == .serving, servesAlone: purpose == .serving,
                limits: StoreLimits())
        case .nats(let settings):
            return try NATSStore(settings, limits: StoreLimits(), steady: context.clock.steady)
        }
    }
}
