internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import SystemFiles

/// The user's editor, started so that it writes no copies of the file.
struct Editor {
    /// How the editor is started: with `exec`, or by the shell.
    enum Form: Equatable {
        case words([String])
        case shell(String)
    }

    let form: Form
    /// Whether zg-env knows how to stop this editor from writing copies.
    let isKnown: Bool
    private let environment: [[UInt8]]
    /// The directories that may be in memory, for a link to the text.
    private let places: [String]

    /// Finds the editor: VISUAL, EDITOR, vi or sensible-editor, in this order.
    ///
    /// - Throws: ``ExitCode/failed`` if none is found.
    init(_ context: Context) throws {
        let path = ExecutableSearch(path: context.variable("PATH"))
        let named = context.variable("VISUAL") ?? context.variable("EDITOR")
        let standard = ["vi", "sensible-editor"].first { path.find($0) != nil }
        guard let text = named ?? standard else {
            throw CommandError(
                .failed, "No editor found: VISUAL and EDITOR are not set, and vi is not installed.",
                hint: "Set VISUAL to your editor.")
        }
        self.init(
            text, realName: { path.realName($0) }, environment: context.childEnvironment,
            places: [context.variable("XDG_RUNTIME_DIR"), "/dev/shm"].compactMap(\.self))
    }

    /// - Parameters:
    ///   - text: The value of VISUAL: a program and maybe arguments.
    ///   - realName: Returns the name of a program with links resolved, or nil.
    init(
        _ text: String, realName: (String) -> String?, environment: [[UInt8]] = [],
        places: [String] = []
    ) {
        self.places = places
        self.environment = environment
        let words = text.split(separator: " ").map(String.init)
        let special = "'\"\\$`;|&<>()*?[]#~=%!{}\t\n".unicodeScalars
        let isPlain = !text.unicodeScalars.contains { special.contains($0) }
        guard isPlain, let program = words.first else {
            (form, isKnown) = (.shell(text), false)
            return
        }
        let arguments = Array(words.dropFirst())
        // After these, editors take each word as a file, or pass it to another process.
        let takesOptions = !arguments.contains { $0 == "--" || $0.hasPrefix("--remote") }
        guard takesOptions, let name = realName(program), let quiet = Self.options(of: name) else {
            (form, isKnown) = (.words(words), false)
            return
        }
        (form, isKnown) = (.words([program] + quiet + arguments), true)
    }

    /// Returns options that stop an editor from writing backups, swap files, undo files, histories
    /// and registers; nil for an unknown editor.
    static func options(of name: String) -> [String]? {
        let base = name.split(separator: ".").first.map(String.init) ?? name
        switch base {
        case "vim", "vimx", "gvim", "nvim":
            // Applied after the user's settings, which may enable these.
            let settings = "set noswapfile nobackup nowritebackup noundofile"
            let front = base == "gvim" || name.contains("gtk") ? ["-f"] : []
            return front + ["-n", "-i", "NONE", "-c", settings]
        case "nano": return ["--ignorercfiles"]
        case "emacs", "emacs-gtk", "emacs-lucid", "emacs-nox", "emacs-pgtk":
            return [
                "--eval",
                "(setq make-backup-files nil auto-save-default nil create-lockfiles nil)",
            ]
        case "micro":
            return ["-backup", "false", "-saveundo", "false", "-savehistory", "false"]
        default: return nil
        }
    }

    /// The name for messages.
    var name: String {
        switch form {
        case .words(let words): words.first ?? ""
        case .shell(let text): text
        }
    }

    /// Runs the editor on the terminal and returns its exit status.
    ///
    /// The path goes through the child's descriptor, because other processes cannot access the
    /// descriptors of this one; it also works if the editor passes the path to another process. The
    /// child waits for the path, which has its process id, or is that of a link with a name.
    ///
    /// - Parameter name: The file name of the link.
    /// - Throws: ``ExitCode/failed`` also if the editor saved another file in place of the link.
    func edit(_ file: MemoryFile, named name: String) throws -> Int32 {
        let gate: Int32 = file.descriptor == 9 ? 8 : 9
        let start = "read -r zg_env_file <&\(gate) || exit 1; exec \(gate)<&-;"
        let arguments =
            switch form {
            case .words(let words):
                ["sh", "-c", "\(start) exec \"$@\" \"$zg_env_file\"", "sh"] + words
            case .shell(let text): ["sh", "-c", "\(start) \(text) \"$zg_env_file\""]
            }
        func stream(_ number: Int32) -> ChildProcess.Stream {
            TerminalDevice.isTerminal(number) ? .inherited : .terminal
        }
        let modes = TerminalModes()
        defer { modes?.restore() }
        return try Interrupts.withTerminalLent {
            let child = try ChildProcess.start(
                "/bin/sh", arguments, environment: environment, input: stream(0),
                output: stream(1), error: stream(2),
                further: [file.descriptor: .descriptor(file.descriptor), gate: .pipe],
                searchesPath: false)
            let target = "/proc/\(child.identifier)/fd/\(file.descriptor)"
            let link = MemoryFileLink(to: target, named: name, in: places)
            let line = Array("\(link?.path ?? target)\n".utf8)
            _ = unsafe write(child.descriptor(gate), line, line.count)
            let status = status(of: child)
            guard link?.remove() != false else {
                throw CommandError(
                    .failed,
                    "\(self.name) wrote the text to another file, which zg-env deleted. Your edits were lost.",
                    hint:
                        "Set VISUAL to an editor that writes the file itself, such as vim or nano."
                )
            }
            return status
        }
    }

    /// Waits for the editor, and ends it if this process gets a signal.
    private func status(of child: ChildProcess) -> Int32 {
        // A signal to this process is meant for the editor too.
        if let status = child.wait(
            atMost: nil, whileWaiting: { Interrupts.pending == nil })
        {
            return status
        }
        child.send(SIGTERM)
        if child.wait(atMost: .seconds(2)) == nil {
            child.send(SIGKILL)
            _ = child.wait(atMost: .seconds(2))
        }
        return 128 + (Interrupts.pending ?? SIGTERM)
    }
}

/// The terminal modes before another program used it.
private struct TerminalModes {
    private let modes: termios

    init?() {
        let descriptor = unsafe open(TerminalDevice.controllingTerminal, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var found = termios()
        guard unsafe tcgetattr(descriptor, &found) == 0 else { return nil }
        modes = found
    }

    /// Restores the modes, which an editor that was killed leaves as they are.
    func restore() {
        let descriptor = unsafe open(TerminalDevice.controllingTerminal, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var wanted = modes
        _ = unsafe tcsetattr(descriptor, TCSADRAIN, &wanted)
    }
}
