import CLinux
import CommandLineKit
import Foundation
import Glibc
import Testing

/// One terminal at a time can be guarded, so all of these run one after another.
@Suite(.serialized, .timeLimit(.minutes(3))) struct `A terminal` {
    @Suite(.serialized) struct `asked for a secret` {
        @Test(arguments: [
            ("hunter2\n", Answer.text("hunter2")),
            ("hunter2\r", .text("hunter2")),
            ("\n", .text("")),
            ("hunter3\u{7F}2\n", .text("hunter2")),
            ("hunter3\u{8}2\n", .text("hunter2")),
            ("\u{7F}\u{7F}a\n", .text("a")),
            ("grüß€😀\u{7F}\u{7F}\u{7F}n\n", .text("grün")),
            ("wrong\u{15}right\n", .text("right")),
            ("abc\u{4}", .text("abc")),
            ("\u{4}", .failure(.endOfInput, isWiped: true)),
            ("a\u{7F}\u{4}", .failure(.endOfInput, isWiped: true)),
            ("tab\tand = \"quotes\"\n", .text("tab\tand = \"quotes\"")),
        ])
        func `takes a line and edits it`(_ typed: String, _ expected: Answer) throws {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let path = terminal.path
            let answer = Background { Answer.asked(at: path) }
            #expect(terminal.wait(untilEcho: false))
            terminal.type(typed)
            #expect(answer.result() == expected)
            #expect(terminal.localModes == before)
            #expect(before & UInt32(ECHO) != 0)
        }

        @Test func `shows the prompt and nothing that is typed, and takes the prompt away`() throws
        {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let answer = Background { Answer.asked(at: path, prompt: "Value of \u{1B}[2JKEY\n: ") }
            #expect(terminal.wait(untilEcho: false))
            #expect(eventually { terminal.screen() == "Value of KEY : " })
            terminal.type("hunter2")
            #expect(terminal.screen() == "")
            terminal.type("\n")
            #expect(answer.result() == .text("hunter2"))
            #expect(terminal.screen() == "\r\u{1B}[K")
        }

        @Test func `ends the line where escape sequences are not understood`() throws {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let answer = Background { Answer.asked(at: path, erases: false) }
            #expect(terminal.wait(untilEcho: false))
            terminal.type("x\n")
            #expect(answer.result() == .text("x"))
            #expect(terminal.screen() == "Secret: \r\n")
        }

        @Test func `drops what was typed before it asked`() throws {
            let terminal = try PseudoTerminal()
            terminal.type("early\n")
            let path = terminal.path
            // The kernel hands typed bytes on behind our back; later ones would be no early ones.
            #expect(eventually { terminal.hasInput })
            let answer = Background { Answer.asked(at: path) }
            #expect(terminal.wait(untilEcho: false))
            terminal.type("late\n")
            #expect(answer.result() == .text("late"))
        }

        @Test(arguments: [4096, 5000, 100_000])
        func `takes more than the terminal's own line editing would`(_ length: Int) throws {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let typed = (0..<length).map { UInt8(0x21 + $0 % 90) }
            let answer = Background { Answer.asked(at: path, capacity: length) }
            #expect(terminal.wait(untilEcho: false))
            terminal.type(typed + [0x0A])
            #expect(answer.result() == .bytes(typed))
            #expect(terminal.echoes)
        }

        @Test func `refuses what does not fit, and forgets it`() throws {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let answer = Background { Answer.asked(at: path, capacity: 8) }
            #expect(terminal.wait(untilEcho: false))
            terminal.type("123456789\n")
            #expect(answer.result() == .failure(.tooLong(limit: 8), isWiped: true))
            #expect(terminal.echoes)
        }

        @Test(arguments: [
            ("123456789\u{7F}\n", "12345678"),
            ("1234567890\u{7F}\u{7F}\u{7F}8\n", "12345678"),
            ("123456789012\u{15}again\n", "again"),
            ("12345678\n", "12345678"),
        ])
        func `lets what does not fit be taken back`(_ typed: String, _ expected: String) throws {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let answer = Background { Answer.asked(at: path, capacity: 8) }
            #expect(terminal.wait(untilEcho: false))
            terminal.type(typed)
            #expect(answer.result() == .text(expected))
        }

        @Test func `refuses several lines pasted where one was asked for`() throws {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let answer = Background { Answer.asked(at: path) }
            #expect(terminal.wait(untilEcho: false))
            terminal.type("-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n")
            #expect(answer.result() == .failure(.severalLines, isWiped: true))
            // What was left of the paste must not be read as commands by a shell.
            var entry = pollfd(fd: terminal.slave, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&entry, 1, 50) == 0)
        }

        @Test func `refuses a device that is no terminal`() {
            #expect(Answer.asked(at: "/dev/null") != .text(""))
            guard case .failure(.noTerminal, _) = Answer.asked(at: "/dev/null") else {
                Issue.record("/dev/null passed for a terminal")
                return
            }
            guard case .failure(.noTerminal, _) = Answer.asked(at: "/nonexistent") else {
                Issue.record("nothing passed for a terminal")
                return
            }
        }
    }

    @Suite(.serialized) struct `asked for a yes` {
        @Test(arguments: [
            ("y\n", true), ("yes\n", true), ("Y\n", true), (" YES \n", true), ("n\n", false),
            ("\n", false), ("\u{4}", false), ("yess\n", false), ("yes no\n", false),
            ("y" + String(repeating: " ", count: 3000) + "n\n", false),
        ])
        func `takes only that`(_ typed: String, _ expected: Bool) throws {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let answer = Background { () -> Bool? in
                try? TerminalDevice(opening: path).confirm("Delete \u{9B}31mall?")
            }
            #expect(eventually { terminal.screen() == "Delete 31mall? [y/N] " })
            terminal.type(typed)
            #expect(answer.result() == expected)
        }
    }

    @Suite(.serialized) struct `with a line of progress` {
        /// Sets the columns of a terminal.
        func setColumns(_ columns: UInt16, _ terminal: PseudoTerminal) {
            var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
            var same = termios()
            unsafe tcgetattr(terminal.slave, &same)
            var ends: (Int32, Int32) = (-1, -1)
            // A pair of the wanted size takes the place of the first.
            guard unsafe openpty(&ends.0, &ends.1, nil, &same, &size) == 0 else { return }
            dup2(ends.0, terminal.master)
            dup2(ends.1, terminal.slave)
            close(ends.0)
            close(ends.1)
        }

        @Test func `shows it in place, cut to its width, and takes it away`() throws {
            let terminal = try PseudoTerminal()
            setColumns(20, terminal)
            #expect(TerminalDevice.columns(terminal.slave) == 20)
            #expect(TerminalDevice.isTerminal(terminal.slave))
            let progress = ProgressLine(descriptor: terminal.slave)
            progress.update("1 of 2")
            progress.update("1 of 2")
            progress.update("reading \u{1B}[2Ja very long name\n")
            progress.finish()
            progress.finish()
            #expect(
                terminal.screen()
                    == "\r\u{1B}[K1 of 2\r\u{1B}[Kreading a very lon…\r\u{1B}[K")
        }

        @Test func `knows no columns where there is no terminal`() {
            #expect(TerminalDevice.columns(-1) == nil)
            #expect(!TerminalDevice.isTerminal(-1))
        }
    }

    @Suite(.serialized) struct `in use when a signal comes` {
        @Test(arguments: [
            (UInt8(0x03), ExitTest.Condition.signal(SIGINT)), (UInt8(0x1C), .exitCode(131)),
        ])
        func `is put back before its keys end the process`(
            _ key: UInt8, _ end: ExitTest.Condition
        ) async throws {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let path = terminal.path
            let typing = Background {
                guard terminal.wait(untilEcho: false) else { return false }
                terminal.type("hunt")
                usleep(20_000)
                terminal.type([key])
                return true
            }
            await #expect(processExitsWith: end) { [path = path as String] in
                Child.takeControllingTerminal(path)
                _ = Answer.asked(at: TerminalDevice.controllingTerminal)
            }
            #expect(typing.result() == true)
            #expect(terminal.localModes == before)
            #expect(!terminal.screen().contains("hunt"))
        }

        @Test(
            arguments: [
                (SIGTERM, .exitCode(143)), (SIGINT, .signal(SIGINT)), (SIGHUP, .exitCode(129)),
            ] as [(Int32, ExitTest.Condition)])
        func `is put back before the process ends`(
            _ signal: Int32, _ end: ExitTest.Condition
        ) async throws {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let path = terminal.path
            await #expect(processExitsWith: end) {
                [path = path as String, signal = signal as Int32] in
                let sender = Background { Child.sendWhenHidden(signal, at: path) }
                _ = Answer.asked(at: path)
                _ = sender.result()
            }
            #expect(terminal.localModes == before)
        }

        @Test func `is put back while the process is stopped, and asks again after it`()
            async throws
        {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let path = terminal.path
            let typing = Background { () -> String in
                guard terminal.wait(untilEcho: false) else { return "never hidden" }
                let prompt = terminal.screen(within: 500)
                guard let process = Int32(prompt.dropFirst(4).prefix { $0 != ":" }) else {
                    return "no process in \(prompt)"
                }
                terminal.type("hun")
                usleep(50_000)
                guard kill(process, SIGTSTP) == 0 else { return "not stopped" }
                guard terminal.wait(untilEcho: true) else { return "not put back" }
                guard terminal.localModes == before else { return "other modes" }
                usleep(50_000)
                guard kill(process, SIGCONT) == 0 else { return "not continued" }
                guard terminal.wait(untilEcho: false) else { return "not hidden again" }
                guard eventually(seconds: 5, { terminal.screen().contains(prompt) }) else {
                    return "not asked again"
                }
                terminal.type("ter2\n")
                return "done"
            }
            await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
                // A group of its own whose parent is in another one of the session: one that stops.
                setpgid(0, 0)
                let answer = Answer.asked(at: path, prompt: "pid \(getpid()): ")
                exit(answer == .text("hunter2") ? 42 : 1)
            }
            #expect(typing.result() == "done")
            #expect(terminal.localModes == before)
        }

        @Test func `stays as it is for a signal that was ignored from the start`() async throws {
            let terminal = try PseudoTerminal()
            let path = terminal.path
            let typing = Background {
                guard terminal.wait(untilEcho: false) else { return false }
                terminal.type([0x03])
                // The key drops what was typed before it.
                usleep(100_000)
                let stayedHidden = !terminal.echoes
                terminal.type("hunter2\n")
                return stayedHidden
            }
            await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
                _ = signal(SIGINT, SIG_IGN)
                Child.takeControllingTerminal(path)
                let answer = Answer.asked(at: TerminalDevice.controllingTerminal)
                exit(answer == .text("hunter2") ? 42 : 1)
            }
            #expect(typing.result() == true)
        }

        @Test func `is put back when a section that only notes signals asks`() async throws {
            let terminal = try PseudoTerminal()
            let before = terminal.localModes
            let path = terminal.path
            await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
                let sender = Background { Child.sendWhenHidden(SIGTERM, at: path) }
                let answer = Interrupts.deferred { Answer.asked(at: path) }
                _ = sender.result()
                exit(answer == .failure(.interrupted, isWiped: true) ? 42 : 1)
            }
            #expect(terminal.localModes == before)
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `Signals` {
    @Test func `are only noted in a deferred section, and take effect when asked`() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            try Interrupts.install()
            let noted = Interrupts.deferred {
                kill(getpid(), SIGINT)
                return eventually(seconds: 5) { Interrupts.pending == SIGINT }
            }
            guard noted else { exit(1) }
            usleep(1000)
            Interrupts.endIfPending()
            exit(2)
        }
    }

    @Test func `that are not pending end nothing`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            try Interrupts.install()
            Interrupts.deferred {}
            Interrupts.endIfPending()
            exit(Interrupts.pending == nil ? 42 : 1)
        }
    }

    @Test func `have their found dispositions and mask again before another program runs`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            _ = signal(SIGHUP, SIG_IGN)
            var blocked = sigset_t()
            unsafe sigemptyset(&blocked)
            unsafe sigaddset(&blocked, SIGUSR2)
            unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
            try Interrupts.install()
            try Interrupts.install()
            guard Child.disposition(of: SIGHUP) == .ignored else { exit(1) }
            guard Child.disposition(of: SIGINT) == .handled else { exit(2) }
            guard Child.disposition(of: SIGPIPE) == .ignored else { exit(3) }
            unsafe sigemptyset(&blocked)
            unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
            try Interrupts.restoreInitialState()
            guard Child.disposition(of: SIGHUP) == .ignored else { exit(4) }
            for signal in [SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGTSTP, SIGCONT] {
                guard Child.disposition(of: signal) == .normal else { exit(5) }
            }
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
            exit(unsafe sigismember(&mask, SIGUSR2) == 1 ? 42 : 6)
        }
    }
}

/// What the processes of exit tests do.
enum Child {
    enum Disposition {
        case normal, ignored, handled
    }

    /// Makes a terminal the one that `/dev/tty` opens, whose keys send signals.
    static func takeControllingTerminal(_ path: String) {
        guard setsid() >= 0 else { exit(90) }
        // A session leader without a terminal gets the first one it opens.
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { exit(91) }
    }

    static func sendWhenHidden(_ signal: Int32, at path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(descriptor) }
        let isHidden = eventually {
            var modes = termios()
            return unsafe tcgetattr(descriptor, &modes) == 0 && modes.c_lflag & UInt32(ECHO) == 0
        }
        guard isHidden else { exit(92) }
        usleep(20_000)
        return kill(getpid(), signal) == 0
    }

    static func disposition(of signal: Int32) -> Disposition {
        var action = sigaction()
        unsafe sigaction(signal, nil, &action)
        let handler = unsafe unsafeBitCast(
            action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == 0 ? .normal : handler == 1 ? .ignored : .handled
    }
}
