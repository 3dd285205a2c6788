/// The systemd user unit that runs `notify run` during a desktop session.
struct NotifyUnit {
    static let name = "zg-env-notify.service"
    /// The first line of every unit written here; without `--force` only files that begin with it
    /// are replaced.
    static let mark = "# Made by: zg-env notify install"

    /// The executable and its arguments.
    let words: [String]

    /// Returns the unit file.
    ///
    /// - Throws: ``ExitCode/usage`` for a word with control characters.
    func text() throws -> String {
        let command = try words.enumerated().map {
            // Variables are replaced in arguments only.
            try Self.quoted($1, escapesVariables: $0 > 0)
        }.joined(separator: " ")
        // All of this works without privileges. The file system stays accessible, since the vault
        // may be anywhere, and memory unlimited, since deriving a key from a passphrase may need a
        // lot.
        return """
            \(Self.mark)
            [Unit]
            Description=Desktop notifications for deployments (zg-env)
            After=graphical-session.target
            PartOf=graphical-session.target

            [Service]
            Type=exec
            ExecStart=\(command)
            Restart=on-failure
            RestartSec=30
            # Signals are the normal way to stop. Wrong arguments, a vault that stays locked or a second
            # instance are not worth a restart.
            SuccessExitStatus=143
            RestartPreventExitStatus=2 3 5 8
            UMask=0077
            LimitCORE=0
            TasksMax=64
            NoNewPrivileges=yes
            LockPersonality=yes
            MemoryDenyWriteExecute=yes
            RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
            RestrictNamespaces=yes
            RestrictRealtime=yes
            RestrictSUIDSGID=yes
            SystemCallArchitectures=native
            SystemCallFilter=@system-service
            SystemCallErrorNumber=EPERM

            [Install]
            WantedBy=graphical-session.target

            """
    }

    /// Quotes a word for `ExecStart`, with specifiers and variables escaped.
    private static func quoted(_ word: String, escapesVariables: Bool) throws -> String {
        var text = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "%": text += "%%"
            case "$" where escapesVariables: text += "$$"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                throw CommandError(
                    .usage, "A systemd unit cannot contain a path with control characters.")
            default: text.unicodeScalars.append(scalar)
            }
        }
        return "\"\(text)\""
    }
}
