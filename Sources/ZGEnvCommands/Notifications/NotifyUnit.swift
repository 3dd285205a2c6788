/// The systemd user unit that runs `notify run` for as long as somebody is logged in to a desktop.
struct NotifyUnit {
    /// The file's name.
    static let name = "zg-env-notify.service"
    /// The first line of units that were made here: only those are replaced without `--force`.
    static let mark = "# Made by: zg-env notify install"

    /// The program and its arguments.
    let words: [String]

    /// The unit's text.
    ///
    /// - Throws: ``ExitCode/usage`` for a word that a unit cannot carry.
    func text() throws -> String {
        let command = try words.map { try Self.quoted($0) }.joined(separator: " ")
        // None of this needs rights that a user's manager lacks. The file system is left as it is: the
        // vault may be anywhere. Memory is not limited: a passphrase may need much.
        return """
            \(Self.mark)
            [Unit]
            Description=Desktop notifications of deployments (zg-env)
            After=graphical-session.target
            PartOf=graphical-session.target

            [Service]
            Type=exec
            ExecStart=\(command)
            Restart=on-failure
            RestartSec=30
            # Ended by a signal: that is how it ends. Wrong arguments, a vault that stays locked and a
            # second one running do not get better by trying again.
            SuccessExitStatus=143 130
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

    /// A word as systemd reads it back, specifiers and variables included.
    private static func quoted(_ word: String) throws -> String {
        var text = ""
        for scalar in word.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "%": text += "%%"
            case "$": text += "$$"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                throw CommandError(
                    .usage, "A path with control characters cannot stand in a systemd unit.")
            default: text.unicodeScalars.append(scalar)
            }
        }
        return "\"\(text)\""
    }
}
