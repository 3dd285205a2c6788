import Foundation
import Glibc

/// Runs one program to its end, with an exactly specified environment.
package struct ProgramRunner {
    /// The destination of a standard stream of the program.
    package enum Stream {
        /// A pipe that the runner reads.
        case pipe
        /// The terminal; requires ``ProgramRunner/terminal``.
        case terminal
        /// `/dev/null`.
        case null
        /// Closed.
        case closed
    }

    /// The source of the program's standard input.
    package enum Input {
        /// A pipe with these bytes, closed after them.
        case bytes([UInt8])
        /// The terminal; requires ``ProgramRunner/terminal``.
        case terminal
        /// `/dev/null`.
        case null
        /// Closed.
        case closed

        /// A pipe with the bytes of `text`, closed after them.
        package static func text(_ text: String) -> Input { .bytes(Array(text.utf8)) }
    }

    /// The program's controlling terminal. The streams lead there only if they say so; a program
    /// that asks on `/dev/tty` finds it.
    package struct Terminal {
        /// Width in characters.
        package var columns = 80
        /// Height in lines.
        package var rows = 24

        /// Describes a terminal of 80 by 24.
        package init() {}
    }

    /// The trigger of a script step.
    package enum Trigger {
        /// Nothing.
        case now
        /// Text on the terminal, after what earlier steps waited for.
        case terminal(String)
        /// Text on the standard output.
        case output(String)
        /// Text on the standard error.
        case error(String)
    }

    /// The action of a script step.
    package enum Action {
        /// Types bytes on the terminal.
        case type([UInt8])
        /// Sends the program a signal.
        case signal(Int32)
        /// Calls back with the process id and the terminal.
        case call((Int32, PseudoTerminal?) -> Void)

        /// Types text and the return key.
        package static func line(_ text: String) -> Action { .type(Array((text + "\r").utf8)) }
    }

    /// The program's path.
    package var path: String
    /// All arguments but the program's name, as bytes without NUL.
    package var arguments: [[UInt8]]
    /// The whole environment; nothing is inherited.
    package var environment: [String: String]
    /// The standard input.
    package var input: Input = .null
    /// The standard output.
    package var output: Stream = .pipe
    /// The standard error.
    package var error: Stream = .pipe
    /// Further descriptors, each the reading end of a pipe with these bytes, closed after them.
    package var descriptors: [Int32: [UInt8]] = [:]
    /// The directory to start in, or the test's.
    package var workingDirectory: String?
    /// A controlling terminal, or nil for a session without one.
    package var terminal: Terminal?
    /// The script, in order.
    package var script: [(when: Trigger, then: Action)] = []
    /// The program is killed (SIGKILL) after this time.
    package var timeLimit: Duration = .seconds(60)

    /// Describes a run of the program at `path`.
    package init(path: String, _ arguments: [String] = [], environment: [String: String] = [:]) {
        self.path = path
        self.arguments = arguments.map { Array($0.utf8) }
        self.environment = environment
    }

    /// Describes a run of a program of this package, such as `zg-env`.
    package init(
        _ name: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws {
        self.init(path: try Self.pathOfProduct(name), arguments, environment: environment)
    }

    /// The path of a program of this package, in the build directory of the tests.
    package static func pathOfProduct(_ name: String) throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let directory = tests.lastIndex(of: "/").map { tests[..<$0] } ?? ""
        let path = "\(directory)/\(name)"
        guard unsafe access(path, X_OK) == 0 else { throw SystemCallError("access \(path)") }
        return path
    }

    /// Starts the program, plays the script, reads all output and waits for the end. An exit code
    /// of `zg-env`, and what it prints with `--json`, must be on its command's page.
    package func run() throws -> ProgramResult {
        // A program may end before it has read its input.
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        let result = try ProgramSession(self).finish()
        DocumentedExitCodes.check(self, result)
        DocumentedFields.check(self, result)
        return result
    }
}
