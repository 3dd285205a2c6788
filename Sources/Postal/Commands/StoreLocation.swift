internal import CommandLineKit
internal import Glibc

/// Where events and devices are kept.
enum StoreLocation: Equatable {
    /// A SQLite file, on this machine alone.
    case database(path: String)
    /// Servers of one NATS cluster.
    case nats(NATSSettings)

    /// What a store is opened for.
    enum Purpose {
        /// A relay serves from it; a file has one at a time.
        case serving
        /// A command looks at it or changes it, also while a relay serves.
        case managing
    }

    /// Reads the options, else the environment.
    init(_ command: ParsedCommand, _ context: PostalContext) throws {
        let file = command.value("database")
        let servers = command.values("nats")
        switch (file, servers.isEmpty) {
        case (.some, false):
            throw PostalError(.usage, "--database and --nats are two stores; name one of them.")
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
                    .usage, "It is not said where devices and events are kept.",
                    hint: "Name a file with --database, or NATS servers with --nats.")
            }
        }
    }

    private static func settings(
        _ servers: [String], _ command: ParsedCommand, _ context: PostalContext
    ) throws -> NATSSettings {
        guard servers.allSatisfy(NATSSettings.isAddress) else {
            throw PostalError(
                .usage, "A NATS server is named as nats://HOST:PORT or tls://HOST:PORT.",
                hint: "A user, password or token belongs into a file: --nats-credentials FILE.")
        }
        guard Set(servers.map { $0.hasPrefix("tls://") }).count == 1 else {
            throw PostalError(
                .usage, "Some servers are named with tls:// and some without.",
                hint: "Name all of them with tls://.")
        }
        var file =
            command.value("nats-credentials") ?? context.variable("ZG_ENV_POSTAL_NATS_CREDENTIALS")
        if file == nil, let directory = context.variable("CREDENTIALS_DIRECTORY") {
            let path = "\(directory)/nats-credentials"
            if unsafe access(path, F_OK) == 0 { file = path }
        }
        return NATSSettings(servers: servers, credentialsFile: file)
    }

    /// Opens the store.
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
