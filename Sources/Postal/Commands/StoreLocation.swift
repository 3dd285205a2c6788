internal import CommandLineKit

/// Where events and devices are kept.
enum StoreLocation: Equatable {
    /// A SQLite file, on this machine alone.
    case database(path: String)
    /// Servers of one NATS cluster.
    case nats(servers: [String])

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
        case (nil, false): self = .nats(servers: servers)
        case (nil, true):
            if let file = context.variable("ZG_ENV_POSTAL_DATABASE") {
                self = .database(path: file)
            } else if let servers = context.variable("ZG_ENV_POSTAL_NATS") {
                self = .nats(servers: servers.split(separator: ",").map(String.init))
            } else {
                throw PostalError(
                    .usage, "It is not said where devices and events are kept.",
                    hint: "Name a file with --database, or NATS servers with --nats.")
            }
        }
    }

    /// Opens the store.
    func open(for purpose: Purpose, _ context: PostalContext) throws -> any PostalStore {
        switch self {
        case .database(let path):
            return try SQLiteStore(
                path: path, createsFile: purpose == .serving, servesAlone: purpose == .serving,
                limits: StoreLimits())
        case .nats:
            throw PostalError(.usage, "This build has no NATS.", hint: "Use --database.")
        }
    }
}
