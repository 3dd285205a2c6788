/// How a `.env` text is to be understood. The raw value is the name on the command line.
package enum DotEnvDialect: String, CaseIterable, Sendable {
    /// Exactly the values that motdotla/dotenv gives a program; the default.
    case dotenv
    /// Only what all readers agree on; anything else is an error.
    case portable
    /// The inverse of what Vercel's CLI writes on `env pull`.
    case vercelPull = "vercel-pull"
    /// `util.parseEnv` of Node 20.
    case node
    /// `@next/env`, the reader of Next.js, with what it expands.
    case next
    /// `docker run --env-file`.
    case docker
    /// `EnvironmentFile=` of systemd.
    case systemd
    /// `env_file` of Docker Compose, without its expansion.
    case compose
    /// Assignments as bash reads them; what would run or expand is an error.
    case shell

    /// Whether values are only known once they are expanded, with ``DotEnvExpansion``.
    package var expands: Bool { self == .next }
}

/// What variables can be written as. The raw value is the name on the command line.
package enum DotEnvFormat: String, CaseIterable, Sendable {
    /// The three forms that all readers of `.env` files understand alike.
    case dotenv
    /// One JSON object of key and value.
    case json
    /// `export` lines that are safe for `eval` in a POSIX shell.
    case shell
    /// A file for `docker run --env-file`.
    case docker
    /// A file for `EnvironmentFile=` of systemd.
    case systemd
    /// One YAML mapping of key and value.
    case yaml
    /// A Secret for Kubernetes, in YAML.
    case k8s
}
