internal import Glibc
internal import Sealing
internal import SystemFiles

/// A /bin/sh command of the user whose output is a secret.
enum ShellCommand {
    /// Runs the command without stdin and reads its output into guarded memory; it shares our stderr.
    ///
    /// - Throws: ``ExitCode/locked`` if it fails.
    static func secretOutput(
        of command: String, limit: Int, environment: [[UInt8]], what: String
    ) throws -> SecretBuffer {
        let process = try ChildProcess.start(
            "/bin/sh", ["sh", "-c", command], environment: environment, input: .null,
            output: .pipe, searchesPath: false)
        let buffer: SecretBuffer
        do {
            buffer = try SecretInput.read(
                descriptor: process.outputDescriptor, limit: limit, what: what)
        } catch {
            process.terminate()
            throw error
        }
        let status = process.wait()
        guard status == 0 else {
            throw CommandError(
                .locked, "\(what) failed with exit code \(status).",
                hint: "Run the command manually to see why it failed.")
        }
        return buffer
    }
}
