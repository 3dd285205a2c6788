internal import CommandLineKit
internal import Glibc
internal import SystemFiles

/// A temporary home directory with a made-up project, and a local server in place of Vercel. Nothing
/// of the user's own is in its environment: no vault, settings, keyring or account.
final class Trial {
    /// Tells the trial's shell from the user's.
    private static let prompt = "(zg-env try) $ "

    let directory: PrivateDirectory
    private let server: TrialServer
    private let environment: [[UInt8]]

    /// - Throws: ``ExitCode/failed``; nothing stays behind.
    init(_ context: Context) throws {
        let temporary = context.variable("TMPDIR") ?? "/tmp"
        let parent = RealPath.of(temporary) ?? temporary
        do throws(SystemError) {
            directory = try PrivateDirectory(in: parent, prefix: "zg-env-try-")
        } catch {
            throw CommandError(
                .failed, "No directory can be created in \(parent): \(error.reason).",
                hint: "Set TMPDIR to a directory that you can write to.")
        }
        do {
            let home = Self.home(directory.path, context)
            server = try TrialServer(context, environment: home)
            environment = home + [Array("ZG_ENV_API_URL=\(server.url)".utf8)]
        } catch {
            try? directory.remove()
            throw error
        }
        do {
            try store("only for this trial\n", to: "passphrase")
            try store(TrialStep.file, to: ".env")
            // bash and zsh may have a prompt of the system's.
            for name in [".bashrc", ".zshrc"] { try store("PS1='\(Self.prompt)'\n", to: name) }
            guard unsafe chdir(directory.path) == 0 else {
                throw CommandError(
                    .failed, "\(directory.path) cannot be entered: \(SystemError.last.reason).")
            }
        } catch {
            try? end()
            throw error
        }
    }

    private func store(_ text: String, to name: String) throws {
        try PrivateFile.write(
            Array(text.utf8), to: "\(directory.path)/\(name)", replaces: false, durably: false)
    }

    /// Returns the environment of the commands without the address of the server.
    private static func home(_ path: String, _ context: Context) -> [[UInt8]] {
        let kept = [
            "LANG=", "LC_", "TERM=", "COLORTERM=", "NO_COLOR=", "TMPDIR=", "TZ=", "USER=",
            "LOGNAME=", "SHELL=",
        ].map { Array($0.utf8) }
        let programs = RealPath.of("/proc/self/exe").flatMap(RealPath.above)
        let search = [programs, context.variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin"]
        return context.rawEnvironment.filter { entry in kept.contains { entry.starts(with: $0) } }
            + [
                "HOME=\(path)", "PS1=\(prompt)",
                "PATH=\(search.compactMap(\.self).joined(separator: ":"))",
                "ZG_ENV_PASSPHRASE_FILE=\(path)/passphrase",
            ].map { Array($0.utf8) }
    }

    /// Runs a command of zg-env without a terminal of its own, so that it does not ask.
    ///
    /// - Parameter isShown: Whether its output and messages go to stdout.
    /// - Returns: Its exit code; nil if a signal to this process ended it.
    func run(_ step: TrialStep, isShown: Bool) throws -> Int32? {
        let child = try ChildProcess.start(
            "/proc/self/exe", ["zg-env"] + step.words, environment: environment,
            input: step.readsToken ? .pipe : .null, output: isShown ? .inherited : .null,
            error: isShown ? .descriptor(1) : .null, startsSession: true, searchesPath: false)
        if step.readsToken {
            let token = Array(server.token.utf8)
            _ = unsafe write(child.inputDescriptor, token, token.count)
        }
        let code = child.wait(atMost: nil) { Interrupts.pending == nil }
        if code == nil { child.endSession() }
        return code
    }

    /// Runs the user's shell and returns its exit code.
    func runShell(_ context: Context) throws -> Int32 {
        let shell = context.variable("SHELL") ?? "/bin/sh"
        return try Interrupts.withTerminalLent {
            let family = DescendantProcesses()
            defer { family.leave() }
            let child = try ChildProcess.start(
                shell, [shell], environment: environment, input: .inherited, output: .inherited,
                searchesPath: false)
            if let code = child.wait(atMost: nil, whileWaiting: { Interrupts.pending == nil }) {
                return code
            }
            family.end(child)
            return 128 + (Interrupts.pending ?? SIGTERM)
        }
    }

    /// Stops the server and removes the directory.
    ///
    /// - Throws: ``ExitCode/failed`` if files stay behind.
    func end() throws {
        server.stop()
        _ = unsafe chdir("/")
        do throws(SystemError) {
            try directory.remove()
        } catch {
            throw CommandError(
                .failed, "\(directory.path) cannot be removed: \(error.reason).",
                hint: "Delete it: it contains only made-up data.")
        }
    }
}
