import Foundation
import TestSupport
import Testing

/// `reveal --copy` with a real X server and xclip, and with scripts in place of wl-copy.
@Suite("reveal --copy")
struct ClipboardTests {
    private let home: CommandHome
    private let marker = Marker("value")

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["A": marker.text, "B": "second", "EMPTY": "x"])
        done(
            try home.run(
                ["set", "EMPTY", "-p", "web", "--allow-empty"], input: .text("")))
    }

    private func seconds(_ number: Int) throws {
        done(try home.run(["config", "set", "clipboard-seconds", "\(number)"]))
    }

    private func copy(_ screen: PrivateScreen, _ arguments: String...) throws -> ProgramResult {
        try home.run(
            ["reveal", "A", "-p", "web", "--copy"] + arguments,
            environment: ["DISPLAY": screen.display])
    }

    /// The clipboard's content; empty for nothing.
    private func content(_ screen: PrivateScreen) throws -> String {
        try ProgramRunner(
            path: "/usr/bin/xclip", ["-selection", "clipboard", "-out"],
            environment: ["DISPLAY": screen.display]
        ).run().output
    }

    private func put(_ text: String, _ screen: PrivateScreen) throws {
        var runner = ProgramRunner(
            path: "/usr/bin/xclip", ["-selection", "clipboard", "-in"],
            environment: ["DISPLAY": screen.display])
        runner.input = .text(text)
        (runner.output, runner.error) = (.null, .null)
        #expect(try runner.run().status == 0)
    }

    /// The processes that will clear the clipboard of `screen`.
    private func helpers(_ screen: PrivateScreen) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { process in
            let words = SmallFile.bytes("/proc/\(process)/cmdline")
            let variables = SmallFile.bytes("/proc/\(process)/environ")
            return words.ranges(of: Array("__clear-clipboard".utf8)).count > 0
                && variables.ranges(of: Array("DISPLAY=\(screen.display)\0".utf8)).count > 0
        }
    }

    private func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
        let limit = ContinuousClock.now + .seconds(60)
        while try !condition() {
            guard ContinuousClock.now < limit else { return false }
            usleep(50_000)
        }
        return true
    }

    @Test func `the value is in the clipboard for as long as the setting says`() throws {
        let screen = try PrivateScreen()
        try seconds(3)
        let result = done(try copy(screen))
        // The background process holds no pipe of ours open.
        #expect(result.duration < .seconds(30))
        #expect(result.output == "")
        #expect(result.error.contains("Copied A (production, preview, development) with xclip."))
        #expect(result.error.contains("will be cleared in 3 s"))
        #expect(try content(screen) == marker.text)
        #expect(try waitUntil { try content(screen) == "" })
        #expect(waitUntil { helpers(screen).isEmpty })
    }

    @Test func `what somebody else copies meanwhile stays`() throws {
        let screen = try PrivateScreen()
        try seconds(1)
        done(try copy(screen))
        try put("something else", screen)
        #expect(waitUntil { helpers(screen).isEmpty })
        #expect(try content(screen) == "something else")
    }

    @Test func `copying the same value again restarts its time`() throws {
        let screen = try PrivateScreen()
        try seconds(5)
        done(try copy(screen))
        let first = try #require(helpers(screen).first)
        sleep(2)
        try seconds(20)
        done(try copy(screen))
        #expect(waitUntil { !helpers(screen).contains(first) })
        #expect(try content(screen) == marker.text)
        let second = try #require(helpers(screen).first)
        kill(second, SIGTERM)
        // A dead process does not clear in place of the next one.
        try seconds(1)
        done(try copy(screen))
        #expect(try waitUntil { try content(screen) == "" })
        let state = home.directory.path("state/zg-env")
        let files = try FileManager.default.contentsOfDirectory(atPath: state)
            .filter { $0.hasPrefix("clipboard-") }
        #expect(files.count == 1)
        #expect(try mode("\(state)/\(files[0])") == 0o600)
        let needles = Needles([marker])
        #expect(needles.found(in: SmallFile.bytes("\(state)/\(files[0])")) == [])
    }

    @Test func `a failed copy leaves the previous one its own time`() throws {
        // Enough for two more commands, even on a busy machine.
        try seconds(12)
        let environment = try wayland()
        let reveal = ["reveal", "A", "-p", "web", "--copy"]
        done(try home.run(reveal, environment: environment))
        try home.directory.write("1", to: "fails")
        failed(try home.run(reveal, environment: environment), 1, "wl-copy failed")
        try FileManager.default.removeItem(atPath: home.directory.path("fails"))
        try home.directory.write(marker.text, to: "clipboard")
        #expect(try waitUntil { try text("clipboard") == "" })
    }

    @Test func `a copy that fails half-way says what happened to the value`() throws {
        try seconds(2)
        let environment = try wayland()
        let reveal = ["reveal", "A", "-p", "web", "--copy"]
        try home.directory.write("1", to: "fails")
        failed(
            try home.run(reveal, environment: environment), 1, "wl-copy failed with exit code 1.",
            "A request to clear the clipboard was sent.")
        #expect(try text("clipboard") == "")
        try home.directory.write("1", to: "sticks")
        failed(
            try home.run(reveal, environment: environment), 1,
            "The clipboard could not be cleared and may still hold the value.",
            "Copy something else")
        #expect(try text("clipboard") == marker.text)
        // The second process still clears it.
        try FileManager.default.removeItem(atPath: home.directory.path("sticks"))
        #expect(try waitUntil { try text("clipboard") == "" })
        // A value that was never there needs no clearing.
        try home.directory.write("1", to: "refuses")
        failed(
            try home.run(reveal, environment: environment), 1,
            "The value is not on the clipboard.")
    }

    @Test func `the process that clears it is detached and does not know the value`() throws {
        let screen = try PrivateScreen()
        try seconds(60)
        done(try copy(screen))
        let helper = try #require(helpers(screen).first)
        defer { kill(helper, SIGKILL) }
        #expect(getsid(helper) == helper)
        let directory = "/proc/\(helper)"
        let files = FileManager.default
        #expect(try files.destinationOfSymbolicLink(atPath: "\(directory)/cwd") == "/")
        let open = try files.contentsOfDirectory(atPath: "\(directory)/fd").sorted()
        #expect(open == ["0", "1", "2"])
        for number in open {
            let target = try files.destinationOfSymbolicLink(atPath: "\(directory)/fd/\(number)")
            #expect(target == "/dev/null")
        }
        let needles = Needles([marker, Marker(name: "passphrase", text: CommandHome.passphrase)])
        for name in ["cmdline", "environ"] {
            #expect(needles.found(in: SmallFile.bytes("\(directory)/\(name)")) == [])
        }
        let memory = try ProcessMemory(of: helper)
        // A value that can be found, so the search below works.
        #expect(memory.contains(Array("__clear-clipboard".utf8)))
        #expect(!memory.contains(Array(marker.text.utf8)))
    }

    @Test func `--json prints one value, and --dry-run copies nothing`() throws {
        let screen = try PrivateScreen()
        try seconds(1)
        let dry = try json(copy(screen, "--dry-run", "--json"))
        #expect(dry["copied"] == false && dry["dryRun"] == true)
        #expect(try content(screen) == "")
        let told = try json(copy(screen, "--json"))
        #expect(told["key"] == "A" && told["copied"] == true && told["program"] == "xclip")
        #expect(told["targets"] == ["production", "preview", "development"])
        #expect(told["version"] == 1 && told["clearedAfterSeconds"] == 1)
        #expect(told["value"] == nil)
        let log = try json(home.run(["log", "--json"]))
        let entries = log["entries"]?.elements.filter { $0["command"] == "reveal" } ?? []
        #expect(entries.map { $0["names"] } == [["A"]])
        #expect(waitUntil { helpers(screen).isEmpty })
    }

    @Test func `a copy that is impossible says why and copies nothing`() throws {
        let reveal = ["reveal", "A", "-p", "web", "--copy"]
        failed(try home.run(reveal, environment: ["DISPLAY": ""]), 1, "no clipboard")
        failed(
            try home.run(reveal, environment: ["DISPLAY": ":0", "PATH": "/nonexistent"]), 1,
            "Install xclip")
        failed(
            try home.run(
                reveal, environment: ["WAYLAND_DISPLAY": "w", "PATH": "/nonexistent"]), 1,
            "Install wl-clipboard")
        failed(try home.run(reveal, environment: ["DISPLAY": ":59999"]), 1, "xclip failed")
        failed(
            try home.run(
                ["reveal", "A", "B", "-p", "web", "--copy"], environment: ["DISPLAY": ":59999"]), 2,
            "one key")
        let screen = try PrivateScreen()
        failed(
            try home.run(
                ["reveal", "EMPTY", "-p", "web", "--copy"],
                environment: ["DISPLAY": screen.display]), 1, "empty")
        // It fails before it needs the passphrase, so it does not ask for one.
        failed(
            try home.run(reveal, unlocked: false, environment: ["DISPLAY": ""]), 1, "no clipboard")
        let log = try json(home.run(["log", "--json"]))
        let names =
            log["entries"]?.elements.filter { $0["command"] == "reveal" }.map { $0["names"] } ?? []
        #expect(!names.contains(["EMPTY"]))
    }

    @Test func `xsel replaces a missing xclip`() throws {
        let screen = try PrivateScreen()
        try seconds(1)
        let directory = try home.directory.makeDirectory("programs")
        try FileManager.default.createSymbolicLink(
            atPath: directory + "/xsel", withDestinationPath: "/usr/bin/xsel")
        let result = done(
            try home.run(
                ["reveal", "A", "-p", "web", "--copy"],
                environment: ["DISPLAY": screen.display, "PATH": directory]))
        #expect(result.error.contains("with xsel"))
        #expect(try content(screen) == marker.text)
        #expect(try waitUntil { try content(screen) == "" })
    }

    // MARK: wl-copy scripts

    /// Scripts that keep the clipboard in the file `clipboard` and their arguments in `calls`. With
    /// a file `fails` copying exits with 1, with `refuses` it does so before copying, and with
    /// `sticks` clearing does nothing and exits with 1.
    private func wayland(help: String = "", paste: String = "cat \"$HOME/clipboard\"") throws
        -> [String: String]
    {
        let directory = try home.directory.makeDirectory("wayland")
        let copy = """
            #!/bin/sh
            echo "$*" >>"$HOME/calls"
            case "$*" in
            *--help*) echo "\(help)" ;;
            *--clear*) [ ! -e "$HOME/sticks" ] || exit 1; : >"$HOME/clipboard" ;;
            *)
                [ ! -e "$HOME/refuses" ] || exit 1
                cat >"$HOME/clipboard"
                [ ! -e "$HOME/fails" ] || exit 1 ;;
            esac
            """
        for (name, text) in [("wl-copy", copy), ("wl-paste", "#!/bin/sh\n\(paste)\n")] {
            let path = try home.directory.write(text, to: "wayland/\(name)")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return ["WAYLAND_DISPLAY": "wayland-9", "PATH": "\(directory):/usr/bin:/bin"]
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try home.directory.read(name), as: UTF8.self)
    }

    @Test(arguments: [true, false])
    func `a wl-copy that supports it gets the text as sensitive`(knows: Bool) throws {
        try seconds(1)
        let environment = try wayland(help: knows ? "  --sensitive  Hint" : "  --clear")
        let result = done(
            try home.run(["reveal", "A", "-p", "web", "--copy"], environment: environment))
        #expect(result.error.contains("with wl-copy"))
        #expect(try text("clipboard") == marker.text)
        #expect(try waitUntil { try text("clipboard") == "" })
        let calls = try text("calls").split(separator: "\n").map(String.init)
        #expect(
            calls == ["--help", "--type text/plain" + (knows ? " --sensitive" : ""), "--clear"])
    }

    @Test func `a clipboard that returns something else is cleared`() throws {
        try seconds(60)
        let environment = try wayland(paste: "echo other")
        failed(
            try home.run(["reveal", "A", "-p", "web", "--copy"], environment: environment), 1,
            "cannot be read back")
        #expect(try text("clipboard") == "")
    }

    @Test func `a clipboard that never answers does not block the command`() throws {
        let environment = try wayland(paste: "exec sleep 60")
        var runner = home.runner(["reveal", "A", "-p", "web", "--copy"], environment: environment)
        runner.timeLimit = .seconds(80)
        let result = try runner.run()
        failed(result, 1, "cannot be read back")
        #expect(try text("clipboard") == "")
    }
}
