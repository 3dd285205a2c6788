import Foundation
import Glibc
import Sealing
import TestSupport
import Testing

@testable import ZGEnvCommands

/// How editors are started, and that real ones leave no copies.
@Suite("Editors")
struct EditorTests {
    @Test func `wiping a file overwrites its content and skips holes`() throws {
        let file = try MemoryFile()
        let text = Array("secret".utf8)
        try text.withBytes { try file.write($0) }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let size = 64 << 20
        #expect(ftruncate(file.descriptor, off_t(size)) == 0)
        #expect(unsafe pwrite(file.descriptor, text, text.count, off_t(size - page)) == text.count)
        let overwritten = file.wipe()
        #expect(overwritten == 2 * page)
        var status = stat()
        #expect(unsafe fstat(file.descriptor, &status) == 0)
        #expect(status.st_size == 0 && status.st_blocks == 0)
        try text.withBytes { try file.write($0) }
        #expect(try file.text(limit: 100).count == text.count)
        #expect(file.wipe() >= text.count)
    }

    private func editor(_ text: String, _ name: String?) -> Editor {
        Editor(text, realName: { _ in name })
    }

    @Test(arguments: [
        ("vim", "vim.basic", true), ("vi", "vim.tiny", true), ("nvim -R", "nvim", true),
        ("nano", "nano", true), ("emacs -nw", "emacs-gtk", true), ("micro", "micro", true),
        ("emacsclient -t", "emacsclient.emacs", false), ("code --wait", "code", false),
        ("vi", "busybox", false), ("vim --", "vim.basic", false),
        ("nvim --remote-wait", "nvim", false), ("vim -u \"$HOME/x\"", "vim.basic", false),
        ("LANG=C vim", "vim.basic", false), ("missing", nil, false),
    ])
    func `a known editor is started with options that prevent copies`(
        text: String, name: String?, isKnown: Bool
    ) {
        let editor = editor(text, name)
        #expect(editor.isKnown == isKnown)
        let words = text.split(separator: " ").map(String.init)
        switch editor.form {
        case .shell(let kept): #expect(!isKnown && kept == text)
        case .words(let kept):
            #expect(kept.first == words.first)
            #expect(Array(kept.suffix(words.count - 1)) == Array(words.dropFirst()))
            #expect((kept.count > words.count) == isKnown)
        }
    }

    /// Settings of the user that ask for every copy these editors can write.
    private func home(_ keyword: String) throws -> (home: CommandHome, marker: Marker) {
        let home = try CommandHome.initialised()
        let marker = Marker("value")
        try home.store(["A": marker.text])
        for name in ["backups", "swaps", "undos"] { try home.directory.makeDirectory(name) }
        let settings = """
            set swapfile updatecount=1 directory=~/swaps backup writebackup backupdir=~/backups
            set undofile undodir=~/undos viminfo='100,<50,s10,h

            """
        try home.directory.write(settings, to: ".vimrc")
        try home.directory.write(
            "set backup\nset backupdir \"\(home.directory.path("backups"))\"\nset historylog\n"
                + "set positionlog\n", to: ".nanorc")
        return (home, marker)
    }

    /// Files below the home that contain the value.
    private func copies(_ home: CommandHome, _ marker: Marker) -> [String] {
        let needles = Needles([marker])
        let files = FileManager.default.enumerator(atPath: home.directory.path)
        return (files?.allObjects as? [String] ?? []).filter {
            !needles.found(in: SmallFile.bytes(home.directory.path($0))).isEmpty
        }
    }

    @Test(arguments: [
        // Yanks the line, so that a register holds it, and writes twice.
        ("vim", ":1\r/^A=\ryyAx\u{1B}:w\rAy\u{1B}:wq\r"), ("nano", "\u{1F}"),
    ])
    func `real editors write no copy, whatever their settings`(
        program: String, keys: String
    ) throws {
        let (home, marker) = try home(program)
        var during: [String]?
        var runner = home.editing(with: program)
        let look = ProgramRunner.Action.call { _, _ in
            usleep(300_000)
            during = copies(home, marker)
        }
        if program == "nano" {
            // Finds the line, goes to its end, changes it, writes and quits.
            runner.script = [
                (.terminal("^X"), .type(Array("\u{17}A=\r\u{5}xy".utf8))),
                (.terminal("xy"), look), (.now, .type([0x0F])),
                (.terminal("Write"), .line("")), (.terminal("Wrote"), .type([0x18])),
            ]
        } else {
            runner.script = [
                (.terminal("A="), .type(Array(":1\r/^A=\ryyAx\u{1B}:w\r".utf8))),
                (.terminal("written"), look), (.now, .type(Array("Ay\u{1B}:wq\r".utf8))),
            ]
        }
        let result = done(try runner.run())
        #expect(result.stepsDone == runner.script.count)
        #expect(!result.error.contains("does not know"))
        #expect(during == [])
        #expect(copies(home, marker) == [])
        #expect(try home.revealed("A") == Array("\(marker.text)xy".utf8))
    }

    @Test func `vim writes copies without the options, so the test above can fail`() throws {
        let (home, marker) = try home("vim")
        // A text that only the shell understands is started unchanged.
        var runner = home.editing(with: "LC_ALL=C.UTF-8 vim")
        runner.script = [
            (.terminal("A="), .type(Array(":1\r/^A=\ryyAx\u{1B}:w\r".utf8))),
            (.terminal("written"), .type(Array(":q\r".utf8))),
        ]
        let result = try runner.run()
        #expect(result.error.contains("does not know"))
        #expect(copies(home, marker) != [])
    }

    @Test func `an unknown editor is warned about once`() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "1"])
        let result = done(try home.editing(with: home.editor("true")).run())
        #expect(result.error.contains("zg-env does not know how to stop sh from writing backup"))
    }

    @Test func `the file has a name with an ending, in a directory that nobody can write to`()
        throws
    {
        let home = try CommandHome.initialised()
        try home.store(["A": "first"])
        let editor = try home.editor(
            """
            echo "$1" >"$HOME/path"
            stat -c %a "$(dirname "$1")" >"$HOME/mode"
            printf 'A=second\\n' >"$1"
            """)
        func run(_ runtime: String, _ visual: String) throws -> ProgramResult {
            var runner = home.editing(with: visual)
            runner.environment["XDG_RUNTIME_DIR"] = runtime
            return try runner.run()
        }
        func text(_ name: String) throws -> String {
            String(decoding: try home.directory.read(name), as: UTF8.self)
        }
        // A runtime directory on a disk is not used.
        done(try run(home.directory.path, editor))
        let path = try text("path").trimmingCharacters(in: .newlines)
        #expect(path.hasPrefix("/dev/shm/zg-env-") && path.hasSuffix("/web.env"), "\(path)")
        #expect(try text("mode") == "500\n")
        #expect(try home.revealed("A") == Array("second".utf8))
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: directory))
        // Nothing stays in a runtime directory of the test's own.
        let runtime = "/dev/shm/zg-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: runtime) }
        done(try run(runtime, editor))
        #expect(try text("path").hasPrefix("\(runtime)/zg-env-"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: runtime) == [])
        // Renaming a new file over it fails, or, for root, is reported and leaves nothing.
        let before = try home.vaultBytes()
        let renaming = try home.editor("echo \"$1\" >\"$HOME/path\"; sed -i s/second/third/ \"$1\"")
        failed(
            try run("/nonexistent", renaming), 1,
            geteuid() == 0 ? "edits were lost" : "edits were not saved")
        #expect(try home.vaultBytes() == before)
        let left = URL(fileURLWithPath: try text("path")).deletingLastPathComponent().path
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test func `an editor gets the file and the terminal, but no passphrase`() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "1"])
        let editor = try home.editor(
            """
            readlink -f "$1" >"$HOME/link"
            env >"$HOME/environment"
            tty <&0 >"$HOME/terminal"; tty <&1 >>"$HOME/terminal"
            ls /proc/$$/fd >"$HOME/descriptors"
            """)
        var runner = home.editing(["-p", "web", "--json"], with: editor)
        runner.input = .text("data for somebody else")
        _ = try json(runner.run())
        func text(_ name: String) throws -> String {
            String(decoding: try home.directory.read(name), as: UTF8.self)
        }
        #expect(try text("link").hasPrefix("/memfd:zg-env"))
        #expect(try !text("environment").contains("ZG_ENV_PASSPHRASE"))
        #expect(try text("environment").contains("VISUAL="))
        let terminals = try text("terminal").split(separator: "\n")
        #expect(terminals.count == 2 && terminals.allSatisfy { $0.hasPrefix("/dev/") })
        // The standard ones, the file in memory, and the script's.
        #expect(try text("descriptors").split(separator: "\n").count <= 6)
    }
}
