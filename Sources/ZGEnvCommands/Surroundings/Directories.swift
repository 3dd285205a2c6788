/// Where things are on disk: the XDG base directories.
struct Directories {
    private let context: Context

    init(_ context: Context) {
        self.context = context
    }

    /// The vault where none is named.
    var vault: String {
        get throws { try base("XDG_DATA_HOME", ".local/share") + "/zg-env/vault.zgv" }
    }

    /// Where the audit log is, and what else is of this machine alone.
    var state: String {
        get throws {
            guard let base = place("XDG_STATE_HOME", ".local/state") else {
                throw CommandError(
                    .failed, "There is no home directory for the audit log.",
                    hint: "Set HOME, or name the log with --audit-log FILE or ZG_ENV_AUDIT_LOG.")
            }
            return "\(base)/zg-env"
        }
    }

    /// The settings; nil where there is no home directory to keep them in.
    var configuration: String? {
        place("XDG_CONFIG_HOME", ".config").map { "\($0)/zg-env/config.json" }
    }

    /// Where answers of the platform are kept; nil where there is no home directory for them.
    var cache: String? {
        place("XDG_CACHE_HOME", ".cache").map { "\($0)/zg-env" }
    }

    /// Where systemd looks for the user's own units; nil where there is no home directory.
    var userUnits: String? {
        place("XDG_CONFIG_HOME", ".config").map { "\($0)/systemd/user" }
    }

    private func base(_ variable: String, _ below: String) throws -> String {
        guard let path = place(variable, below) else {
            throw CommandError(
                .usage, "There is no home directory to look for the vault in.",
                hint: "Set HOME, or name the vault with --vault.")
        }
        return path
    }

    private func place(_ variable: String, _ below: String) -> String? {
        // The specification wants relative paths ignored.
        if let path = context.variable(variable), path.hasPrefix("/") { return path }
        guard let home = context.variable("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/\(below)"
    }
}
