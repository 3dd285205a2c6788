package import CommandLineKit
internal import JSON
package import Vault
internal import VercelAPI

/// Everything of the outside that commands use. Handed in, so that a test can hand in other parts.
package final class Context {
    /// The description of the whole program.
    let program: ProgramSpec
    /// The program's arguments without its name, as the kernel gave them.
    package let arguments: [[UInt8]]
    /// What this process gave up at its start.
    let hardening: ProcessHardening
    /// The process's environment by name; what is not UTF-8 is left out.
    package let environment: [String: String]
    /// The environment as the kernel gave it, for a child that gets it on.
    package let rawEnvironment: [[UInt8]]
    /// The directory the program was started in, as a path.
    package let workingDirectory: String
    /// The vault's file system.
    package let files: any FileStore
    /// Opens the desktop's keyring; nil where this machine has none to ask.
    package let keyring: () -> (any Keyring)?
    /// Milliseconds since 1970.
    package let now: () -> UInt64
    /// Who runs the program.
    package let user: () -> UserAccount
    /// Opens the way to the network, once; only commands that talk to the platform do.
    let transport: () throws -> any HTTPTransport
    /// Where to wait for the platform.
    let waitingRoom: any WaitingRoom
    /// What no child process may inherit.
    let secretDescriptors: SecretDescriptors
    /// Where data goes.
    package let output: OutputStream
    /// Where everything else goes.
    package let messages: OutputStream
    /// What commands noticed and the user should know.
    package private(set) var warnings: [Warning] = []
    /// How many of them people have seen.
    private var shownWarningCount = 0

    /// Something the user should know of a command that went on.
    package struct Warning: Equatable, Sendable {
        /// For scripts.
        package let code: String
        /// For people: a sentence without values.
        package let message: String
    }

    /// Names all parts.
    init(
        program: ProgramSpec, arguments: [[UInt8]], hardening: ProcessHardening,
        environment: [String: String],
        rawEnvironment: [[UInt8]], workingDirectory: String,
        files: any FileStore, keyring: @escaping () -> (any Keyring)?,
        now: @escaping () -> UInt64, user: @escaping () -> UserAccount,
        transport: @escaping () throws -> any HTTPTransport, waitingRoom: any WaitingRoom,
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

    /// The outside for work that goes on beside other work: its waiting gives up the turn, and it has
    /// nowhere to write.
    func beside(_ turns: TurnTaking) -> Context {
        let transport = transport
        return Context(
            program: program, arguments: [], hardening: hardening, environment: environment,
            rawEnvironment: rawEnvironment, workingDirectory: workingDirectory, files: files,
            keyring: keyring, now: now, user: user,
            transport: { TurnTakingTransport(try transport(), turns) },
            waitingRoom: TurnTakingWaitingRoom(waitingRoom, turns),
            secretDescriptors: secretDescriptors,
            output: OutputStream(descriptor: -1), messages: OutputStream(descriptor: -1))
    }

    /// Keeps a warning: shown at once to people, a member of the result with `--json`.
    package func warn(_ code: String, _ message: String) {
        warnings.append(Warning(code: code, message: message))
    }

    /// Shows people on stderr the warnings that they have not seen yet.
    ///
    /// What was done is done, whether or not anybody can be told: a stderr that fails changes nothing.
    func showWarnings() {
        let new = warnings[shownWarningCount...]
        shownWarningCount = warnings.count
        do throws(OutputError) {
            for warning in new {
                try messages.write("warning: \(DisplayText.safe(sentence: warning.message))\n")
            }
            try messages.flush()
        } catch {
            messages.discard()
        }
    }

    /// The arguments from a position on; none for nil.
    func arguments(from index: Int?) -> [[UInt8]] {
        index.map { Array(arguments[$0...]) } ?? []
    }

    /// A variable of the environment that is set and not empty.
    package func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
