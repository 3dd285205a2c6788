/// The paths of zg-env's files, from the XDG base directories.
struct Directories {
    private let context: Context

    init(_ context: Context) {
        self.context = context
    }

    /// The default path of the vault.
    var vault: String {
        get throws {
            guard let base = place("XDG_DATA_HOME", ".local/share") else {
                throw CommandError(
                    .usage, "There is no home directory, so the default vault is unknown.",
                    hint: "Set HOME, or choose a vault with --vault.")
            }
            return "\(base)/zg-env/vault.zgv"
        }
    }

    /// The directory of the audit log and other data of this machine alone.
    var state: String {
        get throws {
            guard let base = place("XDG_STATE_HOME", ".local/state") else {
                throw CommandError(
                    .failed, "Cannot locate the audit log: there is no home directory.",
                    hint: "Set HOME, or choose a path with --audit-log FILE or ZG_ENV_AUDIT_LOG.")
            }
            return "\(base)/zg-env"
        }
    }

    /// The configuration file; nil without a home directory.
    var configuration: String? {
        place("XDG_CONFIG_HOME", ".config").map { "\($0)/zg-env/config.json" }
    }

    /// The directory of the response cache; nil without a home directory.
    var cache: String? {
        place("XDG_CACHE_HOME", ".cache").map { "\($0)/zg-env" }
    }

    /// The directory of the user's systemd units; nil without a home directory.
    var userUnits: String? {
        place("XDG_CONFIG_HOME", ".config").map { "\($0)/systemd/user" }
    }

    private func place(_ variable: String, _ below: String) -> String? {
        // The XDG specification requires relative paths to be ignored.
        if let path = context.variable(variable), path.hasPrefix("/") { return path }
        guard let home = context.variable("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/\(below)"
    }
}
