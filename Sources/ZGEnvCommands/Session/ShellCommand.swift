internal import Glibc
internal import Sealing
internal import SystemFiles

/// A command of the user's for /bin/sh, whose output is a secret.
struct ShellCommand {
    private let command: String

    init(_ command: String) {
        self.command = command
    }

    /// Runs the command and takes its output into guarded memory. It gets no stdin, and stderr goes
    /// where ours goes.
    ///
    /// - Throws: ``ExitCode/locked`` when it fails.
    func secretOutput(
        limit: Int, environment: [[UInt8]], what: String
    ) throws -> SecretBuffer {
        let process = try ChildProcess.start(
            "/bin/sh", ["sh", "-c", command], environment: environment, input: .null,
            output: .pipe, searchesPath: false)
        let buffer: SecretBuffer
        do {
            buffer = try SecretInput.read(
                descriptor: process.outputDescriptor, limit: limit, what: what)
        } catch {
            process.abandon()
            throw error
        }
        let status = process.wait()
        guard status == 0 else {
            throw CommandError(
                .locked, "\(what) failed with status \(status).",
                hint: "Run it by hand to see why. Nothing was changed.")
        }
        return buffer
    }
}
