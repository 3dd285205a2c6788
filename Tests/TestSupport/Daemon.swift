import CTestSupport
import Foundation

/// A program that runs beside a test. It ends with this object, and also when the test's process
/// dies, because a shell holds a pipe from it.
package final class Daemon {
    private let shell: ChildProcess
    /// Closing it ends the program.
    private var lifeline: Int32
    private var suspended: [Int32] = []
    private let path: String

    /// Starts a program.
    ///
    /// - Parameter input: Its standard input.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String], input: [UInt8] = []
    ) throws {
        self.path = path
        // The program's input comes first on the shell's own: a here-document would need quoting.
        let script = """
            exec 4<&0 </dev/null
            "$@" <&4 4<&- 3<&- &
            exec 4<&-
            read -r line <&3
            kill "$!"
            wait "$!"
            """
        var ends: [Int32] = [-1, -1]
        guard unsafe zg_test_pipe(&ends) == 0 else { throw SystemCallError("pipe2") }
        lifeline = ends[1]
        defer { close(ends[0]) }
        var input_: [Int32] = [-1, -1]
        guard unsafe zg_test_pipe(&input_) == 0 else { throw SystemCallError("pipe2") }
        defer {
            close(input_[0])
            close(input_[1])
        }
        // Short enough for the pipe's buffer.
        guard unsafe write(input_[1], input, input.count) == input.count else {
            throw SystemCallError("write")
        }
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var description = ChildProcess.Description(
            "/bin/sh", ["-c", script, "daemon", path] + arguments, environment: environment)
        description.descriptors = [0: input_[0], 1: null, 2: null, 3: ends[0]]
        description.startsSession = true
        shell = try ChildProcess(description)
    }

    deinit {
        stop()
    }

    /// The shell above the program.
    var identifier: Int32 { shell.identifier }

    /// Whether the program ended by itself, as when its port was taken.
    var hasEnded: Bool { (try? children().isEmpty) ?? true }

    private func children() throws -> [Int32] {
        let number = shell.identifier
        return try String(
            contentsOfFile: "/proc/\(number)/task/\(number)/children", encoding: .utf8
        ).split(separator: " ").compactMap { Int32($0) }
    }

    /// Stops the program (SIGSTOP): it exists and does nothing.
    func suspend() throws {
        suspended = try children()
        for child in suspended { kill(child, SIGSTOP) }
    }

    /// Ends the program and waits for its end.
    package func stop() {
        guard lifeline >= 0 else { return }
        close(lifeline)
        lifeline = -1
        for child in suspended { kill(child, SIGCONT) }
        suspended = []
        shell.reap()
    }

    /// Waits until `condition` holds, up to three minutes: a server may start beside many tests.
    package func wait(_ what: String, until condition: () -> Bool) throws {
        let limit = ContinuousClock.now + .seconds(180)
        while !condition() {
            guard ContinuousClock.now < limit else {
                throw SystemCallError("\(path): \(what) did not come up", number: ETIMEDOUT)
            }
            usleep(5_000)
        }
    }
}
