import CommandLineKit
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ZGEnvCommands

/// The completion scripts in real shells, and the words they get from the program.
@Suite("Completion")
struct CompletionTests {
    private let home: CommandHome

    /// A vault that opens with a key file, with `API_KEY` and `API_URL` in the project `web`.
    init() throws {
        home = try CommandHome()
        try home.initialise()
        try home.store(["API_KEY": "first", "API_URL": "second"])
        done(try home.run(["slot", "add", "file", home.directory.path("key")]))
        try home.directory.makeDirectory("bin")
        try FileManager.default.createSymbolicLink(
            atPath: home.directory.path("bin/zg-env"),
            withDestinationPath: ProgramRunner.pathOfProduct("zg-env"))
    }

    private var environment: [String: String] {
        ["ZG_ENV_KEY_FILE": home.directory.path("key")]
    }

    private func candidates(
        _ kind: String, _ prefix: String = "", _ options: [String] = ["-p", "web"],
        environment: [String: String]? = nil
    ) throws -> [String] {
        let result = done(
            try home.run(
                options + ["__complete", kind, "--", prefix], unlocked: false,
                environment: environment ?? self.environment))
        #expect(result.error == "")
        return result.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
    }

    @Test func `names come from the index and begin with what was typed`() throws {
        #expect(try candidates("variable") == ["API_KEY", "API_URL"])
        #expect(try candidates("variable", "API_K") == ["API_KEY"])
        #expect(try candidates("variable", "x") == [])
        #expect(try candidates("project", "w") == ["web"])
        #expect(try candidates("target", "p") == ["preview", "production"])
        done(
            try home.run(
                ["set", "API_KEY", "-p", "web", "-t", "staging"], input: .text("x"),
                unlocked: true))
        #expect(try candidates("target", "s") == ["staging"])
    }

    @Test func `completion reads no passphrase and asks no question`() throws {
        // Opening the fifo would hang, and a terminal would show a question.
        let fifo = home.directory.path("fifo")
        try #require(unsafe mkfifo(fifo, 0o600) == 0)
        for kind in DynamicCompletion.allCases {
            let expected = kind == .target ? ["development", "preview", "production"] : []
            #expect(
                try candidates(
                    kind.rawValue, environment: ["ZG_ENV_PASSPHRASE_FILE": fifo]) == expected)
        }
        #expect(try candidates("target", environment: ["ZG_ENV_VAULT": "/nowhere"]).count == 3)
    }

    @Test func `completion leaves out a name with terminal control characters`() {
        let names = ["GOOD", "BAD\u{1B}[2J", "BAD\nLINE", "", "GOOD"]
        let shown = CompletionCandidates.shown(
            names.map { .init(word: $0, meaning: "a\u{7}\tb") }, startingWith: "")
        #expect(shown.map(\.word) == ["GOOD"])
        #expect(shown.first?.meaning.contains("\u{7}") == false)
        #expect(shown.first?.meaning.contains("\t") == false)
    }

    @Test func `completion uses an unlocked keyring and does not unlock one`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let home = try CommandHome(keyring: keyring)
        done(try home.run(["init", "--lock", "--kdf", "8MiB,1"]))
        try home.store(["API_KEY": "first"])
        let complete = ["-p", "web", "__complete", "variable", "--", "API"]
        let open = done(try home.run(complete, unlocked: false))
        #expect(open.output == "API_KEY\tproduction, preview, development\n")
        try keyring.lock()
        let locked = done(try home.run(complete, unlocked: false))
        #expect(locked.output == "")
    }

    @Test func `deployments come from the response cache`() throws {
        let platform = try SandboxHome()
        let home = platform.home
        try platform.set("KEY", "value")
        done(try platform.run("deployment", "list", "-p", "web"))
        done(try platform.run("project", "list"))
        done(try home.run(["slot", "add", "file", home.directory.path("key")]))
        let key = ["ZG_ENV_KEY_FILE": home.directory.path("key")]
        let asked = try platform.requests {
            let deployments = done(
                try platform.run(
                    "-p", "web", "__complete", "deployment", "--", "dpl_", unlocked: false,
                    environment: key))
            #expect(deployments.output.contains("READY, live, production, main, "))
            #expect(deployments.output.contains("READY, preview, feature, "))
            let words = done(
                try platform.run(
                    "-p", "web", "__complete", "deployment", unlocked: false, environment: key)
            ).output
            for word in ["latest", "live", "feature", "main"] {
                #expect(words.contains("\n\(word)\tthe "), "\(words)")
            }
            // What cannot be undone takes ids alone.
            let ids = done(
                try platform.run(
                    "-p", "web", "__complete", "deployment-id", unlocked: false, environment: key)
            ).output
            #expect(ids.contains("dpl_") && !ids.contains("latest"), "\(ids)")
            let projects = done(
                try platform.run("__complete", "project", unlocked: false, environment: key))
            #expect(projects.output.contains("bare\ton Vercel\n"))
            #expect(projects.output.contains("web\tin the vault\n"))
        }
        #expect(asked == [])
    }

    // MARK: Shells

    /// Writes a shell's script into the home and runs the shell with `zg-env` in its PATH.
    private func run(
        _ shell: String, _ arguments: [String], script name: String
    ) throws -> ProgramResult {
        let script = done(try home.run(["completion", shell], unlocked: false)).output
        try home.directory.makeDirectory("scripts")
        try home.directory.write(script, to: "scripts/\(name)")
        var variables = home.environment.merging(environment) { $1 }
        variables["PATH"] = home.directory.path("bin") + ":/usr/bin:/bin"
        variables["SCRIPTS"] = home.directory.path("scripts")
        variables["TERM"] = "dumb"
        var runner = ProgramRunner(path: "/usr/bin/\(shell)", arguments, environment: variables)
        runner.workingDirectory = home.directory.path("work")
        return done(try runner.run())
    }

    @Test func `bash completes commands, options and names`() throws {
        let result = try run(
            "bash",
            [
                "--norc", "-c",
                """
                compopt() { :; }
                . "$SCRIPTS/zg-env.bash"
                offer() {
                    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
                    _zg_env zg-env
                    echo "${COMPREPLY[*]}"
                }
                offer zg-env reveal -p web API_
                offer zg-env rek
                offer zg-env -p w
                offer zg-env set API_KEY --ty
                offer zg-env list -t production,pre
                program() { printf 'dpl_1\\tREADY, 2 h\\ndpl_2\\tERROR, 1 d\\n'; }
                kind='ask deployment' typed=dpl_ program=program
                for COMP_TYPE in 9 63; do
                    COMPREPLY=() passed=() list=
                    _zg_env_complete dpl_ ""
                    printf '%s|' "${COMPREPLY[@]}"
                    echo
                done
                """,
            ], script: "zg-env.bash")
        #expect(
            result.output == """
                API_KEY API_URL
                rekey
                web
                --type
                production,preview
                dpl_1|dpl_2|
                dpl_1  READY, 2 h|dpl_2  ERROR, 1 d|

                """)
        #expect(result.error == "")
    }

    @Test func `fish completes commands, options and names`() throws {
        let result = try run(
            "fish",
            [
                "--no-config", "-c",
                """
                source "$SCRIPTS/zg-env.fish"
                complete -C 'zg-env reveal -p web API_'
                complete -C 'zg-env rek'
                complete -C 'zg-env -p w'
                """,
            ], script: "zg-env.fish")
        #expect(
            result.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == [
                "API_KEY", "API_URL", "rekey", "web",
            ])
        #expect(result.error == "")
    }

    /// In an interactive zsh on its own terminal: completion works nowhere else.
    @Test func `zsh completes commands, options and names`() throws {
        let result = try run(
            "zsh",
            [
                "-f", "-c",
                """
                zmodload zsh/zpty
                zpty shell zsh -f -i
                zpty -w shell 'PS1=; fpath=($SCRIPTS $fpath); autoload -Uz compinit;' \
                    'compinit -u -D; show() { print -r -- "LINE:<$BUFFER>"; zle send-break };' \
                    'zle -N show; bindkey "^X" show; print RE''ADY'
                zpty -r shell text '*READY*'
                for line in 'zg-env reveal -p web API_K' 'zg-env rek' 'zg-env -p w'; do
                    zpty -w -n shell "$line"$'\\t\\x18'
                    zpty -r shell text '*LINE:<*>*'
                    print -r -- "$text"
                done
                zpty -d shell
                """,
            ], script: "_zg-env")
        for line in ["zg-env reveal -p web API_KEY ", "zg-env rekey ", "zg-env -p web "] {
            #expect(result.output.contains("LINE:<\(line)>"), "\(result.output)")
        }
    }

    @Test func `zsh completes after its script was sourced, and describes commands`() throws {
        let result = try run(
            "zsh",
            [
                "-f", "-c",
                """
                zmodload zsh/zpty
                zpty shell zsh -f -i
                zpty -w shell 'PS1=; stty columns 100; autoload -Uz compinit; compinit -u -D;' \
                    'source <(zg-env completion zsh);' \
                    'show() { print -r -- "LINE:<$BUFFER>"; zle send-break };' \
                    'zle -N show; bindkey "^X" show; print RE''ADY'
                zpty -r shell text '*READY*'
                for line in 'zg-env reveal -p web API_K' 'zg-env slot '; do
                    zpty -w -n shell "$line"$'\\t\\x18'
                    zpty -r shell text '*LINE:<*>*'
                    print -r -- "$text"
                done
                zpty -d shell
                zsh -f -c 'source <(zg-env completion zsh)'
                """,
            ], script: "unused")
        #expect(result.output.contains("LINE:<zg-env reveal -p web API_KEY >"), "\(result.output)")
        #expect(
            result.output.contains("list    -- Show the ways to open the vault"),
            "\(result.output)")
        #expect(
            result.error.contains("Completion of zg-env needs: autoload -Uz compinit && compinit"),
            "\(result.error)")
    }
}
