internal import Glibc
internal import SystemFiles

/// Opens pages in the user's browser.
final class Browser {
    private let context: Context
    /// Running programs, reaped so that none stays behind as a zombie.
    private var children: [ChildProcess] = []

    init(_ context: Context) { self.context = context }

    /// Returns a URL that is safe to open: `https`, of plain characters only. URLs from Vercel are
    /// not trusted further than that.
    ///
    /// - Parameter text: A URL, or a host name with or without a path.
    static func address(_ text: String?) -> String? {
        guard let text else { return nil }
        let full = text.contains("://") ? text : "https://\(text)"
        let rest = full.dropFirst("https://".count)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let isHost = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E
        }
        let isPlain = rest.utf8.allSatisfy { byte in
            (0x21..<0x7F).contains(byte) && !"\"'`\\<>{}|^$;()".utf8.contains(byte)
        }
        guard full.hasPrefix("https://"), (4...600).contains(full.utf8.count), isHost, isPlain,
            host.contains("."), !host.hasPrefix("-"), !host.hasPrefix(".")
        else { return nil }
        return full
    }

    /// Starts the desktop's program for a URL, and waits a moment for its failure.
    func open(_ address: String) throws {
        reap()
        let search = ExecutableSearch(path: context.variable("PATH"))
        guard let opener = search.find("xdg-open") else {
            throw CommandError(
                .failed, "Cannot open \(address): xdg-open is not installed.",
                hint: "Install xdg-utils.")
        }
        var words = [opener, address]
        // A systemd service's children share its sandbox and end with it, which does not suit a
        // browser.
        if context.variable("INVOCATION_ID") != nil, let runner = search.find("systemd-run") {
            words = [runner, "--user", "--collect", "--quiet", "--"] + words
        }
        let environment = context.rawEnvironment.filter { entry in
            !["ZG_ENV_", "VERCEL_TOKEN=", "CREDENTIALS_DIRECTORY="].contains {
                entry.starts(with: Array($0.utf8))
            }
        }
        let child = try ChildProcess.start(
            words[0], words, environment: environment, input: .null, output: .null,
            error: .null, startsSession: true, searchesPath: false)
        switch child.wait(atMost: .milliseconds(500)) {
        case nil: children.append(child)
        case 0: break
        case let status?:
            throw CommandError(
                .failed,
                "xdg-open could not open \(address) (exit code \(status)).")
        }
    }

    /// Removes programs that have ended.
    func reap() {
        children.removeAll { $0.wait(atMost: .zero) != nil }
    }
}
