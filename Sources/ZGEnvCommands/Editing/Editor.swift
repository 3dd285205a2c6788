internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import SystemFiles

/// The user's editor: which program it is, how it is kept from writing copies, and one run of it.
struct Editor {
    /// How the program is started: words for `exec`, or a text for the shell.
    enum Form: Equatable {
        case words([String])
        case shell(String)
    }

    let form: Form
    /// Whether the program is one whose copies we know how to prevent.
    let isKnown: Bool
    private let environment: [[UInt8]]

    /// Finds the editor: VISUAL, EDITOR, vi, sensible-editor.
    ///
    /// - Throws: ``ExitCode/failed`` where there is none.
    init(_ context: Context) throws {
        let path = ExecutableSearch(path: context.variable("PATH"))
        let named = context.variable("VISUAL") ?? context.variable("EDITOR")
        let standard = ["vi", "sensible-editor"].first { path.find($0) != nil }
        guard let text = named ?? standard else {
            throw CommandError(
                .failed, "There is no editor: VISUAL and EDITOR are not set, and there is no vi.",
                hint: "Set VISUAL to the editor you use.")
        }
        self.init(text, realName: { path.realName($0) }, environment: context.rawEnvironment)
    }

    /// - Parameters:
    ///   - text: As VISUAL has it: a program, and maybe arguments.
    ///   - realName: The name of the program behind a word, links followed; nil where there is none.
    init(_ text: String, realName: (String) -> String?, environment: [[UInt8]] = []) {
        self.environment = environment.filter {
            !$0.starts(with: Array("ZG_ENV_PASSPHRASE_".utf8))
        }
        let words = text.split(separator: " ").map(String.init)
        let special = "'\"\\$`;|&<>()*?[]#~=%!{}\t\n".unicodeScalars
        let isPlain = !text.unicodeScalars.contains { special.contains($0) }
        guard isPlain, let program = words.first else {
            (form, isKnown) = (.shell(text), false)
            return
        }
        let arguments = Array(words.dropFirst())
        // Behind these an editor takes every word for a file, or hands it to another process.
        let takesOptions = !arguments.contains { $0 == "--" || $0.hasPrefix("--remote") }
        guard takesOptions, let name = realName(program), let quiet = Self.options(of: name) else {
            (form, isKnown) = (.words(words), false)
            return
        }
        (form, isKnown) = (.words([program] + quiet + arguments), true)
    }

    /// Options that keep an editor from writing backups, swap files, undo files, histories and
    /// registers; nil for one that we do not know.
    static func options(of name: String) -> [String]? {
        let base = name.split(separator: ".").first.map(String.init) ?? name
        switch base {
        case "vim", "vimx", "gvim", "nvim":
            // After the user's own settings, which may switch these on.
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

    /// What to call it in messages.
    var name: String {
        switch form {
        case .words(let words): words.first ?? ""
        case .shell(let text): text
        }
    }

    /// Has the user edit a file, with the terminal, and waits for the end.
    ///
    /// The path leads through the child's own descriptor: this process is closed to all others, and
    /// an editor that has another process open the file names it too.
    ///
    /// - Returns: The exit status of the editor.
    func edit(_ file: MemoryFile) throws -> Int32 {
        let path = "/proc/$$/fd/\(file.descriptor)"
        let arguments =
            switch form {
            case .words(let words): ["sh", "-c", "exec \"$@\" \"\(path)\"", "sh"] + words
            case .shell(let text): ["sh", "-c", "\(text) \"\(path)\""]
            }
        func stream(_ number: Int32) -> ChildProcess.Stream {
            TerminalDevice.isTerminal(number) ? .inherited : .terminal
        }
        let modes = TerminalModes()
        defer { modes?.putBack() }
        return try Interrupts.lendingTerminal {
            let child = try ChildProcess.start(
                "/bin/sh", arguments, environment: environment, input: stream(0),
                output: stream(1), error: stream(2),
                further: [file.descriptor: .descriptor(file.descriptor)],
                searchesPath: false)
            // Whoever ends this process means the editor too.
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
}

/// The modes of the terminal before somebody else had it.
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

    /// For an editor that died with the terminal as it needs it.
    func putBack() {
        let descriptor = unsafe open(TerminalDevice.controllingTerminal, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var wanted = modes
        _ = unsafe tcsetattr(descriptor, TCSADRAIN, &wanted)
    }
}
