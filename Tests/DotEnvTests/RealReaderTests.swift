import DotEnv
import Foundation
import TestSupport
import Testing

/// Output of the writer, read back by real programs.
@Suite struct `Real readers` {
    /// A program that reads a file of one format.
    enum Reader: String, CaseIterable, CustomTestStringConvertible {
        case motdotla, node, pythonDotEnv, bash, systemd
        case bashEval, dashEval, zshEval, fishSource, systemdFormat, json, k8s, yaml, docker
        /// Not exact for every text.
        case compose

        static let exact = allCases.filter { $0 != .compose }
        var isShell: Bool { [.bash, .bashEval, .dashEval, .zshEval, .fishSource].contains(self) }

        var testDescription: String { rawValue }

        var format: DotEnvFormat {
            switch self {
            case .motdotla, .node, .pythonDotEnv, .bash, .systemd, .compose: .dotenv
            case .bashEval, .dashEval, .zshEval, .fishSource: .shell
            case .systemdFormat: .systemd
            case .json: .json
            case .k8s: .k8s
            case .yaml: .yaml
            case .docker: .docker
            }
        }

        /// The program and its arguments, with the file last; it writes `NAME=VALUE` and a NUL
        /// each.
        func command(_ file: String) -> (path: String, arguments: [String])? {
            let script = Places.tests.appending(path: "Readers/read.py").path()
            let python = Self.program("python3")
            func read(_ python: String?, _ name: String) -> (String, [String])? {
                python.map { ($0, ["-B", script, name, file]) }
            }
            switch self {
            case .motdotla:
                let readers = Places.tests.appending(path: "Readers/readers.js").path()
                let script = """
                    const text = require("fs").readFileSync(process.argv[2], "utf8");
                    for (const [name, value] of require(process.argv[1]).classic(text))
                        process.stdout.write(name + "=" + value + "\\0");
                    """
                return Node.path.map { ($0, ["-e", script, readers, file]) }
            case .node:
                let script = """
                    const text = require("fs").readFileSync(process.argv[1], "utf8");
                    for (const [name, value] of Object.entries(require("util").parseEnv(text)))
                        process.stdout.write(name + "=" + value + "\\0");
                    """
                return Node.path.map { ($0, ["-e", script, file]) }
            case .pythonDotEnv:
                let python = Places.package.appending(path: ".build/readers/bin/python").path()
                return FileManager.default.isExecutableFile(atPath: python)
                    ? read(python, "python-dotenv") : nil
            case .bash:
                return ("/bin/bash", ["--norc", "-c", "set -a; . \"$1\"; exec env -0", "sh", file])
            case .bashEval:
                let script = "eval \"$(cat \"$1\"; echo :)\"; exec env -0"
                return ("/bin/bash", ["--norc", "-c", script, "sh", file])
            case .dashEval:
                return Self.program("dash").map {
                    ($0, ["-c", "eval \"$(cat \"$1\"; echo :)\"; exec env -0", "sh", file])
                }
            case .zshEval:
                return Self.program("zsh").map {
                    ($0, ["-f", "-c", "eval \"$(cat \"$1\"; echo :)\"; exec env -0", "sh", file])
                }
            case .fishSource:
                return Self.program("fish").map {
                    ($0, ["--no-config", "-c", "cat $argv[1] | source; exec env -0", file])
                }
            case .systemd, .systemdFormat:
                return Self.hasSystemd ? read(python, "systemd") : nil
            case .json, .k8s, .yaml, .docker, .compose: return read(python, rawValue)
            }
        }

        /// The reason why it may be missing.
        var absence: String {
            switch self {
            case .node, .motdotla: Node.absence
            case .pythonDotEnv: "there is no python-dotenv; make test installs it from PyPI"
            case .systemd, .systemdFormat: "there is no libsystemd-shared"
            default: "there is no \(rawValue)"
            }
        }

        private static func program(_ name: String) -> String? {
            ["/usr/local/bin", "/usr/bin", "/bin"].map { "\($0)/\(name)" }
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }

        private static let hasSystemd = ["/usr/lib", "/usr/lib64"].contains { directory in
            let found = FileManager.default.enumerator(atPath: directory)
            while let name = found?.nextObject() as? String {
                if name.contains("systemd/libsystemd-shared-") { return true }
                if name.split(separator: "/").count > 3 { found?.skipDescendants() }
            }
            return false
        }
    }

    /// Parts of values: characters special to some parser, and others.
    private static let pieces: [String] = [
        "a", "B", "7", "word", " ", "  ", "\t", "\n", "\n\n", "'", "\"", "`", "#", " #", "$", "$x",
        "$(x)", "${", "}", "\\", "\\n", "\\\\", "=", ":", ";", "&", "|", "<", ">", "(", ")", "*",
        "?", "[", "]", "{", "!", "%", "^", "~", "/", ".", ",", "+", "-", "@", "export ", "\nB=2",
        "é", "世界", "🔐", "\u{A0}", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{1}", "\u{7F}", "\u{202E}a",
        "🏴\u{E0067}\u{E007F}", "\r", "\r\n",
        "-----BEGIN KEY-----\n", "{\"a\":\"b\"}", "it's", "C:\\dir\\", "p%40ss", "\u{B}", "\u{C}",
    ]

    /// Values that the format can carry, most of them nasty.
    private static func values(
        _ format: DotEnvFormat, count: Int, _ random: inout Seeded
    ) -> [[UInt8]] {
        let writer = DotEnvWriter(format)
        var values: [[UInt8]] = []
        var refused = 0
        while values.count < count, refused < 100 * count {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let bytes = Array(text.utf8)
            let lend: DotEnvWriter.Lender = { _, body in withSpan(bytes) { body($0) } }
            if (try? writer.length(["K"], lending: lend)) != nil,
                writer.unportableKeys(["K"], lending: lend).isEmpty
            {
                values.append(bytes)
            } else {
                refused += 1
            }
        }
        return values
    }

    @Test(arguments: Reader.exact)
    func `2,000 nasty random values are read back by the real parser`(reader: Reader) throws {
        guard let (path, arguments) = reader.command("written") else {
            // In CI every parser must be installed.
            let isRequired = ProcessInfo.processInfo.environment["CI"] != nil
            guard !isRequired else {
                Issue.record("\(reader.absence)")
                return
            }
            try Test.cancel("\(reader.absence)")
        }
        let seed = UInt64.random(in: 0 ... .max)
        print("\(reader): seed \(seed)")
        var random = Seeded(seed)
        let values = Self.values(reader.format, count: 2_000, &random)
        #expect(values.count == 2_000)
        let named = values.enumerated().map { ("K\($0.offset)", $0.element) }
        let directory = try TemporaryDirectory(named: "readers")
        try directory.write(try written(named, as: reader.format), to: "written")
        var runner = ProgramRunner(path: path, arguments, environment: ["PATH": "/usr/bin:/bin"])
        runner.workingDirectory = directory.path
        let result = try runner.run()
        #expect(result.status == 0, "seed \(seed): \(result.error)")
        var found: [String: [UInt8]] = [:]
        for entry in result.standardOutput.split(separator: 0) {
            guard let sign = entry.firstIndex(of: 0x3D) else { continue }
            found[String(decoding: entry[..<sign], as: UTF8.self)] = Array(entry[(sign + 1)...])
        }
        for (key, value) in named where found[key] != value {
            Issue.record(
                """
                seed \(seed), \(key): wrote \(String(decoding: value, as: UTF8.self).debugDescription), \
                read \(found[key].map { String(decoding: $0, as: UTF8.self).debugDescription } ?? "nothing")
                """)
        }
    }

    /// Values that try to leave the quotes of some shell.
    private static let attacks: [String] = [
        #"x\'; touch ran; echo \'"#, #"\'$(touch ran)"#, #"'; touch ran; '"#, #"\"#, #"\\"#,
        #"\\'"#, #"'"#, #"''"#, #"\\\"#, #"it's a \ back\slash \' end\"#, "\n", "a\n", "\r\n",
        "'\n'", "(touch ran)", "$(touch ran)`touch ran`", "{a,b} ~ * ? [a] !! # %self =ls",
        "a\\\ntouch ran\n", "\u{F600}\u{F6FF}\u{10FFFF}", nonCharacter, "", " ", "-x", "$HOME",
    ]
    private static let characters: [String] = (1...0x2FF).compactMap {
        Unicode.Scalar($0).map { String(Character($0)) }
    }

    @Test(
        "VAL-F7: bash, dash, zsh and fish read hostile values exactly, and run nothing",
        arguments: [Reader.bashEval, .dashEval, .zshEval, .fishSource])
    func shells(reader: Reader) throws {
        guard let (path, arguments) = reader.command("written") else {
            Issue.record("\(reader.absence)")
            return
        }
        let directory = try TemporaryDirectory(named: "shells")
        let texts =
            Self.attacks + Self.characters + Self.characters.map { "\\\($0)\\" }
            + [Self.characters.joined()]
        let named = texts.enumerated().map { ("K\($0.offset)", Array($0.element.utf8)) }
        try directory.write(try written(named, as: .shell), to: "written")
        var runner = ProgramRunner(path: path, arguments, environment: ["PATH": "/usr/bin:/bin"])
        runner.workingDirectory = directory.path
        let result = try runner.run()
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        let found = Set(result.standardOutput.split(separator: 0).map { Array($0) })
        for (key, value) in named where !found.contains(Array("\(key)=".utf8) + value) {
            Issue.record("\(key): \(String(decoding: value, as: UTF8.self).debugDescription)")
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path("ran")))
    }

    /// A name that the shell itself uses and the writer accepts must be read back like any other,
    /// and one that cannot be must be refused.
    @Test(arguments: [Reader.bashEval, .dashEval])
    func `every name that a shell uses itself is refused or carried`(reader: Reader) throws {
        guard let (path, arguments) = reader.command("written") else {
            try Test.cancel("\(reader.absence)")
        }
        let directory = try TemporaryDirectory(named: "shell-names")
        func run(_ arguments: [String]) throws -> ProgramResult {
            var runner = ProgramRunner(
                path: path, arguments, environment: ["PATH": "/usr/bin:/bin"])
            runner.workingDirectory = directory.path
            return try runner.run()
        }
        let own = try run([
            "-c", reader == .bashEval ? "f() { compgen -v; }; f" : "set | sed -n 's/=.*//p'",
        ]).output.split(separator: "\n").map { String($0) }
        #expect(own.contains("PPID"))
        let known = [
            "BASH_SUBSHELL", "FUNCNAME", "GROUPS", "RANDOM", "SECONDS", "LINENO", "OPTIND",
        ]
        var (refused, carried) = (0, 0)
        for name in Set(own + known).sorted() {
            guard let text = try? written([(name, Array("a value".utf8))], as: .shell) else {
                refused += 1
                continue
            }
            try directory.write(text, to: "written")
            let script = arguments.map { $0.replacing("exec env", with: "exec /usr/bin/env") }
                .map { $0.replacing("$(cat ", with: "$(/bin/cat ") }
            let result = try run(script)
            let entries = result.standardOutput.split(separator: 0).map { Array($0) }
            #expect(entries.contains(Array("\(name)=a value".utf8)), "\(name): \(result.error)")
            carried += 1
        }
        #expect(refused >= known.count && carried > 5, "\(refused) \(carried)")
    }
}
