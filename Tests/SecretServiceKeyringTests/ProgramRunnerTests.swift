import Foundation
import TestSupport
import Testing

@Suite("Running a program")
struct ProgramRunnerTests {
    @Test func `the program gets exactly the environment and the arguments`() throws {
        let printed = try ProgramRunner(path: "/usr/bin/env", environment: ["A": "1", "B": "ä\n"])
            .run()
        #expect(printed.output == "A=1\nB=ä\n\n")
        #expect(printed.status == 0)

        var arguments = ProgramRunner(path: "/usr/bin/printf", ["%s,", "a b", ""])
        arguments.arguments.append([0xff])
        #expect(try arguments.run().standardOutput == Array("a b,,".utf8) + [0xff, 0x2c])
    }

    @Test func `the program has only the given descriptors`() throws {
        var runner = ProgramRunner(path: "/bin/ls", ["/proc/self/fd"])
        runner.descriptors = [3: [], 7: []]
        // `ls` opens the directory itself as the lowest free number.
        #expect(try runner.run().output == "0\n1\n2\n3\n4\n7\n")
    }

    @Test func `the program starts with default signals`() throws {
        let result = try ProgramRunner(path: "/bin/grep", ["Sig[IB]", "/proc/self/status"]).run()
        // Signals 32 and 33 are the C library's own: their dispositions cannot be changed.
        let own: UInt64 = 0x1_8000_0000
        let masks = result.output.split(separator: "\n").map { line in
            UInt64(line.drop { $0 != "\t" }.dropFirst(), radix: 16).map { $0 & ~own }
        }
        #expect(masks == [0, 0])
    }

    @Test func `input and further descriptors carry more than a pipe holds`() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var runner = ProgramRunner(path: "/bin/sh", ["-c", "cat; cat <&5; cat <&3 >&2"])
        runner.input = .bytes(bytes)
        runner.descriptors = [3: bytes, 5: Array("five".utf8)]
        let result = try runner.run()
        #expect(result.standardOutput == bytes + Array("five".utf8))
        #expect(result.standardError == bytes)
    }

    @Test func `a program that does not read its input is not waited for`() throws {
        var runner = ProgramRunner(path: "/bin/true")
        runner.input = .bytes([UInt8](repeating: 1, count: 1_000_000))
        #expect(try runner.run().status == 0)
    }

    @Test func `the working directory is the given one`() throws {
        let directory = try TemporaryDirectory()
        var runner = ProgramRunner(path: "/bin/pwd", ["-P"])
        runner.workingDirectory = directory.path
        #expect(try runner.run().output == directory.path + "\n")
    }

    @Test func `closed streams are closed`() throws {
        var runner = ProgramRunner(path: "/bin/ls", ["/proc/self/fd"])
        runner.input = .closed
        runner.error = .closed
        #expect(try runner.run().output == "0\n1\n")
    }

    @Test func `a program over its time limit is killed`() throws {
        var runner = ProgramRunner(path: "/bin/sleep", ["60"])
        runner.timeLimit = .milliseconds(200)
        let result = try runner.run()
        #expect(result.timedOut)
        #expect(result.signal == SIGKILL)
        #expect(result.duration < .seconds(5))
    }

    @Test func `a grandchild that keeps a pipe open is not waited for`() throws {
        let result = try ProgramRunner(path: "/bin/sh", ["-c", "sleep 40 & echo here"]).run()
        #expect(result.output == "here\n")
        #expect(result.duration < .seconds(30))
    }

    @Test func `a missing program is an error`() {
        #expect(throws: SystemCallError.self) {
            try ProgramRunner(path: "/nonexistent/program").run()
        }
    }

    @Test func `the terminal is the controlling one and answers its script`() throws {
        let program = """
            stty -echo </dev/tty; printf 'Passphrase: ' >/dev/tty; read -r answer </dev/tty
            stty echo </dev/tty; printf 'got %s' "$answer"
            """
        var runner = ProgramRunner(
            path: "/bin/sh", ["-c", program], environment: ["PATH": "/usr/bin:/bin"])
        runner.terminal = .init()
        var echo: Bool?
        runner.script = [
            (.terminal("Passphrase: "), .call { _, terminal in echo = terminal?.isEchoOn }),
            (.now, .line("correct horse")),
        ]
        let result = try runner.run()
        #expect(result.output == "got correct horse")
        #expect(result.screen == "Passphrase: ")
        #expect(result.stepsDone == 2)
        #expect(echo == false)
        #expect(result.echoAtEnd == true)
    }

    @Test func `without a terminal there is no controlling one`() throws {
        let result = try ProgramRunner(path: "/bin/sh", ["-c", ": </dev/tty"]).run()
        #expect(result.status != 0)
    }

    @Test func `all streams may lead to the terminal`() throws {
        var runner = ProgramRunner(
            path: "/bin/sh", ["-c", "test -t 0 && test -t 1 && echo yes; stty size"])
        runner.environment = ["PATH": "/usr/bin:/bin"]
        runner.terminal = .init()
        runner.terminal?.columns = 132
        runner.input = .terminal
        runner.output = .terminal
        runner.error = .terminal
        #expect(try runner.run().screen == "yes\r\n24 132\r\n")
    }

    @Test func `the script may send signals`() throws {
        var runner = ProgramRunner(
            path: "/bin/sh", ["-c", "trap 'exit 42' INT; echo ready; while :; do sleep 0.05; done"])
        runner.environment = ["PATH": "/usr/bin:/bin"]
        runner.script = [(.output("ready"), .signal(SIGINT))]
        #expect(try runner.run().status == 42)
    }

    @Test func `the interrupt key reaches the program on the terminal`() throws {
        var runner = ProgramRunner(path: "/bin/sh", ["-c", "echo ready >/dev/tty; sleep 20"])
        runner.environment = ["PATH": "/usr/bin:/bin"]
        runner.terminal = .init()
        runner.script = [(.terminal("ready"), .type([3]))]
        #expect(try runner.run().signal == SIGINT)
    }

    @Test func `this package's programs are found`() throws {
        #expect(try ProgramRunner.pathOfProduct("zg-env").hasSuffix("/zg-env"))
    }
}
