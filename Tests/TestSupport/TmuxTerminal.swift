import Foundation

/// A real terminal of tmux with a shell in it, on its own server, which ends with this object.
package final class TmuxTerminal {
    private let directory: TemporaryDirectory
    private let environment: [String: String]

    /// Starts a shell with only the given variables.
    package init(
        environment: [String: String], columns: Int = 80, rows: Int = 24,
        workingDirectory: String? = nil
    ) throws {
        directory = try TemporaryDirectory(named: "zg-tmux")
        var environment = environment
        environment["PS1"] = "$ "
        environment["ENV"] = nil
        self.environment = environment
        var words = [
            "-f", "/dev/null", "-u", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
        ]
        if let workingDirectory { words += ["-c", workingDirectory] }
        try tmux(words + ["/bin/sh"])
        // The prompt for a user, and for root.
        try wait("the shell") { ["$", "#"].contains { screen.contains($0) } }
    }

    deinit { _ = try? tmux(["kill-server"]) }

    /// Runs a command of tmux and returns what it printed.
    @discardableResult
    package func tmux(_ words: [String]) throws -> String {
        let runner = ProgramRunner(
            path: "/usr/bin/tmux", ["-S", directory.path("socket")] + words,
            environment: environment)
        let result = try runner.run()
        guard result.status == 0 else { throw Failure("tmux \(words): \(result.error)") }
        return result.output
    }

    /// Types keys by tmux's names, such as `Enter` and `C-c`.
    package func press(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

    /// Types literal text.
    package func type(_ text: String) throws { try tmux(["send-keys", "-l", "--", text]) }

    /// Runs a command line in the shell.
    package func run(_ line: String) throws {
        try type(line)
        try press("Enter")
    }

    /// The text on the terminal.
    package var screen: String { (try? tmux(["capture-pane", "-p"])) ?? "" }

    /// The same with escape sequences of colors.
    package var colouredScreen: String { (try? tmux(["capture-pane", "-p", "-e"])) ?? "" }

    /// The text on the terminal and in its scrollback.
    package var everything: String {
        (try? tmux(["capture-pane", "-p", "-S", "-", "-E", "-"])) ?? ""
    }

    /// Whether a program uses the alternate screen.
    package var isAlternate: Bool { value(of: "alternate_on") == "1" }
    /// Whether the cursor is visible.
    package var hasCursor: Bool { value(of: "cursor_flag") == "1" }

    private func value(of name: String) -> String {
        ((try? tmux(["display-message", "-p", "#{\(name)}"])) ?? "")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Changes the size.
    package func resize(_ columns: Int, _ rows: Int) throws {
        try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// The process id of the program that the shell runs.
    package func program(named name: String) throws -> Int32 {
        let shell = value(of: "pane_pid")
        let children =
            try String(
                contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8)
        for word in children.split(separator: " ") {
            let found = try? String(contentsOfFile: "/proc/\(word)/comm", encoding: .utf8)
            if found?.hasPrefix(name) == true, let number = Int32(word) { return number }
        }
        throw Failure("The shell runs no \(name).")
    }

    /// Waits until it shows a text.
    package func wait(for text: String) throws {
        try wait("\"\(text)\"") { screen.contains(text) }
    }

    /// Waits until a condition holds.
    package func wait(_ what: String, seconds: Double = 60, until condition: () -> Bool) throws {
        let end = Date().addingTimeInterval(seconds)
        while !condition() {
            guard Date() < end else { throw Failure("\(what) did not come:\n\(screen)") }
            usleep(20_000)
        }
    }

    /// A terminal that did not reach the state a test needs.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        init(_ description: String) { self.description = description }
    }
}
