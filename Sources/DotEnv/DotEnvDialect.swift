/// The rules by which a `.env` text is read. The raw value is the name on the command line.
package enum DotEnvDialect: String, CaseIterable, Sendable {
    /// As motdotla/dotenv; the default.
    case dotenv
    /// Only what all parsers agree on; anything else is an error.
    case portable
    /// The inverse of what Vercel's CLI writes on `env pull`.
    case vercelPull = "vercel-pull"
    /// `util.parseEnv` of Node 20.
    case node
    /// `@next/env`, the parser of Next.js, with its expansion.
    case next
    /// `docker run --env-file`.
    case docker
    /// `EnvironmentFile=` of systemd.
    case systemd
    /// `env_file` of Docker Compose, without its expansion.
    case compose
    /// Assignments as bash reads them; what would execute or expand is an error.
    case shell
    /// One JSON object without nested values.
    case json
    /// One YAML mapping without nested values, in the forms that `YAMLScanner` lists.
    case yaml

    /// Returns the dialect that the ending of a file's name stands for; nil for any other file.
    package init?(ofFile path: String) {
        let path = path.lowercased()
        if path.hasSuffix(".json") {
            self = .json
        } else if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
            self = .yaml
        } else {
            return nil
        }
    }

    /// Whether a text has one grammar that all parsers share, and refers to no other variable.
    package var isDataFormat: Bool { self == .json || self == .yaml }

    /// Whether values are only known after expansion with ``DotEnvExpansion``.
    package var expands: Bool { self == .next }
}

/// A format for writing variables. The raw value is the name on the command line.
package enum DotEnvFormat: String, CaseIterable, Sendable {
    /// The three forms that all parsers of `.env` files read alike.
    case dotenv
    /// A JSON object of key and value.
    case json
    /// `export` lines that bash, dash, zsh and fish read alike, for `eval` or `source`.
    case shell
    /// A file for `docker run --env-file`.
    case docker
    /// A file for `EnvironmentFile=` of systemd.
    case systemd
    /// A YAML mapping of key and value.
    case yaml
    /// A Secret for Kubernetes, in YAML.
    case k8s
}
