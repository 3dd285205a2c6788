internal import Glibc
internal import SystemFiles

/// Git, asked about the files of a directory or an index: the one way to start it. It gets no variable of
/// ours, and may neither ask, nor fetch, nor start what a repository's settings name.
struct GitProgram {
    private let environment: [[UInt8]]
    private let words: [String]

    /// - Parameters:
    ///   - directory: Where to look; nil for the directory of this process.
    ///   - asHook: Whether the repository and the index that the environment names count, as they must
    ///     within a commit.
    ///   - namesHooks: Whether it can say where hooks are; else it finds none.
    ///   - further: Options before the command.
    init(
        _ context: Context, in directory: String? = nil, asHook: Bool = false,
        namesHooks: Bool = false, _ further: [String] = []
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
                // For versions that do not know the one before: no way to fetch is allowed.
                "GIT_ALLOW_PROTOCOL=none",
                // What is sent to others counts, and not what a repository puts in its place here.
                "GIT_NO_REPLACE_OBJECTS=1",
            ].map { Array($0.utf8) }
        words =
            ["git"] + (directory.map { ["-C", $0] } ?? []) + ["-c", "core.fsmonitor=false"]
            + (namesHooks ? [] : ["-c", "core.hooksPath=/dev/null"]) + further
    }

    /// Checks that this directory is in a repository that commits are made in.
    ///
    /// - Throws: ``ExitCode/usage``.
    func checkRepository(hint: String) throws {
        switch try line(["rev-parse", "--is-bare-repository"]) {
        case "false": return
        case "true":
            throw CommandError(
                .usage, "This repository is bare: nothing is staged in it, and no commit is made.",
                hint: hint)
        default:
            throw CommandError(
                .usage, "This directory is in no repository of git that can be read.", hint: hint)
        }
    }

    /// Starts git.
    ///
    /// - Throws: ``ExitCode/failed`` where there is none.
    func start(_ arguments: [String], input: ChildProcess.Stream = .null) throws -> ChildProcess {
        try ChildProcess.start(
            "git", words + arguments, environment: environment, input: input, output: .pipe,
            error: .null, searchesPath: true)
    }

    /// Git runs, and prints nothing.
    struct NoAnswer: Error {}

    /// How long git may print nothing. It reads some files without a look at their kind: a pipe as a
    /// `.gitignore` or as included settings would have it wait for ever.
    private static let longestSilence: Int32 = 20

    /// What git prints; nil where it fails.
    ///
    /// - Throws: ``ExitCode/failed`` where there is none; ``NoAnswer``.
    func output(_ arguments: [String]) throws -> [UInt8]? {
        let process = try start(arguments)
        var bytes: [UInt8] = []
        let end = DescriptorReading.readAll(
            process.outputDescriptor, longestSilence: Self.longestSilence
        ) { bytes += $0 }
        if end == .silence {
            process.abandon()
            throw NoAnswer()
        }
        let status = process.wait()
        return end == .whole && status == 0 ? bytes : nil
    }

    /// Entries ended by NUL.
    func list(_ arguments: [String]) throws -> [ArraySlice<UInt8>]? {
        try output(arguments)?.split(separator: 0)
    }

    /// What git prints as one line of text.
    func line(_ arguments: [String]) throws -> String? {
        try output(arguments).flatMap {
            String(validating: $0.last == 0x0A ? $0.dropLast() : $0[...], as: UTF8.self)
        }
    }
}

/// Reads descriptors of other programs.
enum DescriptorReading {
    /// How a stream ended.
    enum End {
        case whole, failed
        /// Nothing came for too long.
        case silence
    }

    /// Hands on what comes until the end.
    ///
    /// - Parameter longestSilence: In seconds.
    static func readAll(
        _ descriptor: Int32, longestSilence: Int32, _ body: (ArraySlice<UInt8>) -> Void
    ) -> End {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let found = unsafe poll(&entry, 1, longestSilence * 1_000)
            if found == 0 { return .silence }
            if found < 0 {
                if errno == EINTR { continue }
                return .failed
            }
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, into: buffer)
            }
            if got <= 0 { return got == 0 ? .whole : .failed }
            body(bytes[..<got])
        }
    }

    /// Waits until there is something to read, or an end of it.
    static func waitForInput(_ descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, -1)
    }

    /// Reads what is there, whatever signals come.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let got = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if got < 0, errno == EINTR { continue }
            return got
        }
    }
}
