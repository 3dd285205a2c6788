package import CommandLineKit
internal import HTTPClient
internal import JSON
package import Vault

/// The environment of commands: arguments, variables, files, keyring, clock, network and streams. Tests
/// replace its parts.
package final class Context {
    let program: ProgramSpec
    /// The program's arguments without its name, as the kernel gave them.
    package let arguments: [[UInt8]]
    let hardening: ProcessHardening
    /// The process's environment by name, without entries that are not UTF-8.
    package let environment: [String: String]
    /// The environment as the kernel gave it, for child processes.
    package let rawEnvironment: [[UInt8]]
    /// The path of the directory in which the program was started.
    package let workingDirectory: String
    /// The vault's file system.
    package let files: any FileStore
    /// Opens the desktop keyring; nil without one.
    package let keyring: () -> (any Keyring)?
    /// Milliseconds since 1970.
    package let now: () -> UInt64
    package let user: () -> UserAccount
    /// Creates the HTTP transport; only called by commands that use Vercel.
    let transport: () throws -> any HTTPTransport
    let waitingRoom: any Sleeper
    /// The descriptors that no child process may inherit.
    let secretDescriptors: SecretDescriptors
    /// The stream for data: stdout.
    package let output: OutputStream
    /// The stream for messages: stderr.
    package let messages: OutputStream
    package private(set) var warnings: [Warning] = []
    private var warned: Set<String> = []
    private var shownWarningCount = 0

    /// A problem that did not stop the command.
    package struct Warning: Equatable, Sendable {
        /// The code in JSON.
        package let code: String
        /// A sentence without values.
        package let message: String
    }

    init(
        program: ProgramSpec, arguments: [[UInt8]], hardening: ProcessHardening,
        environment: [String: String],
        rawEnvironment: [[UInt8]], workingDirectory: String,
        files: any FileStore, keyring: @escaping () -> (any Keyring)?,
        now: @escaping () -> UInt64, user: @escaping () -> UserAccount,
        transport: @escaping () throws -> any HTTPTransport, waitingRoom: any Sleeper,
        secretDescriptors: SecretDescriptors = SecretDescriptors(),
        output: OutputStream, messages: OutputStream
    ) {
        self.program = program
        self.arguments = arguments
        self.hardening = hardening
        self.environment = environment
        self.rawEnvironment = rawEnvironment
        self.workingDirectory = workingDirectory
        self.files = files
        self.keyring = keyring
        self.now = now
        self.user = user
        self.transport = transport
        self.waitingRoom = waitingRoom
        self.secretDescriptors = secretDescriptors
        self.output = output
        self.messages = messages
    }

    /// Returns a context for concurrent work: it yields the turn while it waits, and its streams go
    /// nowhere.
    func beside(_ turns: GlobalLock) -> Context {
        let transport = transport
        return copy(
            { LockReleasingTransport(try transport(), turns) },
            LockReleasingSleeper(waitingRoom, turns),
            OutputStream(descriptor: -1), OutputStream(descriptor: -1))
    }

    /// Returns a context for another command on the same terminal, with warnings of its own.
    func forAnotherCommand() -> Context { copy(transport, waitingRoom, output, messages) }

    private func copy(
        _ transport: @escaping () throws -> any HTTPTransport, _ waitingRoom: any Sleeper,
        _ output: OutputStream, _ messages: OutputStream
    ) -> Context {
        Context(
            program: program, arguments: [], hardening: hardening, environment: environment,
            rawEnvironment: rawEnvironment, workingDirectory: workingDirectory, files: files,
            keyring: keyring, now: now, user: user, transport: transport,
            waitingRoom: waitingRoom, secretDescriptors: secretDescriptors, output: output,
            messages: messages)
    }

    /// The environment of a program that zg-env starts for its own purposes: without the sources of
    /// the passphrase.
    var childEnvironment: [[UInt8]] {
        rawEnvironment.filter { !$0.starts(with: "ZG_ENV_PASSPHRASE_".utf8) }
    }

    /// Adds a warning, shown on stderr or, with `--json`, as a member of the result. The same one is
    /// added once, however often its cause is met.
    package func warn(_ code: String, _ message: String) {
        guard warned.insert(message).inserted else { return }
        warnings.append(Warning(code: code, message: message))
    }

    /// Writes new warnings to stderr. A stream that fails is ignored: the work is done either way.
    func showWarnings() {
        let new = warnings[shownWarningCount...]
        shownWarningCount = warnings.count
        do throws(OutputError) {
            for warning in new {
                try messages.write(sentence: warning.message, label: "warning:")
            }
            try messages.flush()
        } catch {
            messages.discard()
        }
    }

    /// Returns the arguments from `index` on; none for nil.
    func arguments(from index: Int?) -> [[UInt8]] {
        index.map { Array(arguments[$0...]) } ?? []
    }

    /// Returns an environment variable; nil if it is not set or empty.
    package func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the absolute form of a path that is relative to the working directory.
    func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "\(workingDirectory)/\(path)"
    }

    /// Whether windows can be shown.
    var hasDisplay: Bool { variable("DISPLAY") != nil || variable("WAYLAND_DISPLAY") != nil }
}
