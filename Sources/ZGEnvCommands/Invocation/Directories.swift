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
        get throws { try base("XDG_STATE_HOME", ".local/state") + "/zg-env" }
    }

    /// The settings.
    var configuration: String {
        get throws { try base("XDG_CONFIG_HOME", ".config") + "/zg-env/config.json" }
    }

    private func base(_ variable: String, _ below: String) throws -> String {
        // The specification wants relative paths ignored.
        if let path = context.variable(variable), path.hasPrefix("/") { return path }
        guard let home = context.variable("HOME"), home.hasPrefix("/") else {
            throw CommandError(
                .usage, "There is no home directory to look for the vault in.",
                hint: "Set HOME, or name the vault with --vault.")
        }
        return "\(home)/\(below)"
    }
}
