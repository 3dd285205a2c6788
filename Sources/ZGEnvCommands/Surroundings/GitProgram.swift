internal import SystemFiles

/// Runs git on a directory or an index. Git gets none of our variables, and must neither prompt, nor
/// fetch, nor run programs that a repository configures.
struct GitProgram {
    private let environment: [[UInt8]]
    private let words: [String]

    /// - Parameters:
    ///   - directory: The directory to run in; nil for that of this process.
    ///   - asHook: Whether to pass on the repository and the index of the environment, as within a commit.
    ///   - reportsHooks: Whether git can report the path of hooks; otherwise it finds none.
    ///   - further: Options before the command.
    init(
        _ context: Context, in directory: String? = nil, asHook: Bool = false,
        reportsHooks: Bool = false, _ further: [String] = []
    ) {
        let always = [
            "PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH",
        ]
        let ofHook = [
            "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_CONFIG_PARAMETERS",
            "GIT_PREFIX",
        ]
        let kept = Set((asHook ? always + ofHook : always).map { Array($0.utf8) })
        environment =
            context.rawEnvironment.filter { kept.contains(Array($0.prefix { $0 != 0x3D })) }
            + [
                "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
                // For versions without the variable before: forbids all protocols.
                "GIT_ALLOW_PROTOCOL=none",
                // The objects that are sent to others matter, not local replacements.
                "GIT_NO_REPLACE_OBJECTS=1",
            ].map { Array($0.utf8) }
        words =
            ["git"] + (directory.map { ["-C", $0] } ?? []) + ["-c", "core.fsmonitor=false"]
            + (reportsHooks ? [] : ["-c", "core.hooksPath=/dev/null"]) + further
    }

    /// Checks that this directory is in a repository with a work tree.
    ///
    /// - Throws: ``ExitCode/usage``.
    func checkRepository(hint: String) throws {
        switch try line(["rev-parse", "--is-bare-repository"]) {
        case "false": return
        case "true":
            throw CommandError(
                .usage, "This repository is bare: it has no work tree and no staged files.",
                hint: hint)
        default:
            throw CommandError(
                .usage, "This directory is not in a readable git repository.", hint: hint)
        }
    }

    /// Starts git.
    ///
    /// - Throws: ``ExitCode/failed`` if git is not installed.
    func start(_ arguments: [String], input: ChildProcess.Stream = .null) throws -> ChildProcess {
        try ChildProcess.start(
            "git", words + arguments, environment: environment, input: input, output: .pipe,
            error: .null, searchesPath: true)
    }

    /// Git runs but prints nothing for too long.
    struct NoAnswer: Error {}

    /// How long git may print nothing: a pipe as `.gitignore` or as an included configuration file
    /// would make it wait forever.
    private static let longestSilence: Duration = .seconds(20)

    /// Returns what git prints; nil if it fails.
    ///
    /// - Throws: ``ExitCode/failed`` if git is not installed; ``NoAnswer``.
    func output(_ arguments: [String]) throws -> [UInt8]? {
        let process = try start(arguments)
        var bytes: [UInt8] = []
        let end = DescriptorReading.readAll(
            [process.outputDescriptor], longestSilence: Self.longestSilence
        ) { _, piece in bytes += piece }
        if end == .silence {
            process.terminate()
            throw NoAnswer()
        }
        let status = process.wait()
        return end == .whole && status == 0 ? bytes : nil
    }

    /// Returns NUL-terminated entries.
    func list(_ arguments: [String]) throws -> [ArraySlice<UInt8>]? {
        try output(arguments)?.split(separator: 0)
    }

    /// Returns what git prints as one line of text.
    func line(_ arguments: [String]) throws -> String? {
        try output(arguments).flatMap {
            String(validating: $0.last == 0x0A ? $0.dropLast() : $0[...], as: UTF8.self)
        }
    }
}
