/// What git gets of this process's environment, and how long it may take.
package struct GitEnvironment: Sendable {
    /// The kept variables, as `NAME=value`.
    let variables: [[UInt8]]
    /// Whether git, ssh and credential helpers may ask the user on the terminal.
    let mayAsk: Bool
    /// The longest time without output, and in all; and the most that a fetch may write to one file,
    /// in bytes.
    let limits: (silence: Duration, total: Duration, fetch: Int)

    /// Without the variables of desktop sessions, helpers that read a keyring find no bus; without
    /// those of proxies, git does not reach the network of many companies.
    private static let kept: Set<[UInt8]> = Set(
        [
            "PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
            "USER", "LOGNAME", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS", "https_proxy", "HTTPS_PROXY",
            "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
        ].map { Array($0.utf8) })

    /// - Parameters:
    ///   - variables: The whole environment, as `NAME=value`.
    ///   - mayAsk: Only if the user asked for what runs now, and there is a terminal.
    package init(
        _ variables: [[UInt8]], mayAsk: Bool = false, longestSilence: Duration = .seconds(60),
        limit: Duration = .seconds(900), largestFetch: Int = 1 << 30
    ) {
        let further: Set<[UInt8]> = mayAsk ? [Array("TERM".utf8), Array("GPG_TTY".utf8)] : []
        self.variables = variables.filter { variable in
            let name = Array(variable.prefix { $0 != UInt8(ascii: "=") })
            return Self.kept.contains(name) || further.contains(name)
        }
        self.mayAsk = mayAsk
        limits = (longestSilence, limit, largestFetch)
    }
}
