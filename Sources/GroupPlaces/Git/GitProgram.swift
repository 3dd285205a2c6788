internal import CLinux
internal import Glibc
internal import SystemFiles

/// Runs git in a directory of our own. git gets none of our variables, and runs no hooks, signing
/// programs, maintenance or other programs that a repository configures.
struct GitProgram {
    /// How a run of git ended.
    struct Result {
        let status: Int32
        let output: [UInt8]
        /// The end of the standard error, as text.
        let error: String

        var isDone: Bool { status == 0 }
        /// Whether a signal ended git.
        var isKilled: Bool { status > 128 }
    }

    private let directory: String
    private let environment: GitEnvironment
    private let variables: [[UInt8]]
    private let words: [String]
    /// The most output that is read into memory: a listing of a million objects.
    static let longestOutput = 256 << 20
    private static let longestError = 8 << 10

    /// - Parameters:
    ///   - repository: The repository, in which git also runs; or another directory of our own.
    ///   - address: The place, which decides the protocols; nil forbids all.
    init(in repository: String, _ address: PlaceAddress?, _ environment: GitEnvironment) {
        directory = repository
        self.environment = environment
        var settings = [
            "protocol.allow=never", "core.hooksPath=/dev/null", "core.fsmonitor=false",
            "core.alternateRefsCommand=true", "gc.auto=0", "maintenance.auto=false",
            "commit.gpgSign=false", "push.gpgSign=false", "transfer.fsckObjects=true",
            "fetch.fsckObjects=true", "fetch.prune=false", "fetch.pruneTags=false",
            "fetch.writeCommitGraph=false", "fetch.recurseSubmodules=false",
            "submodule.recurse=false", "push.recurseSubmodules=no", "push.followTags=false",
            "push.pushOption=", "color.ui=false",
            // One pack for each fetch and publish, without another process.
            "fetch.unpackLimit=1", "fastimport.unpackLimit=1",
            // The largest object has 8 MiB. Larger ones do not get into memory.
            "core.bigFileThreshold=16m",
            // Our copy may be lost at any time: it is recreated.
            "core.fsync=none",
            "http.lowSpeedLimit=1", "http.lowSpeedTime=60",
        ]
        switch address?.kind {
        case .repository?: settings.append("protocol.file.allow=always")
        case .http?: settings.append("protocol.http.allow=always")
        // The user's own configuration often replaces one by the other (url.<base>.insteadOf).
        case .https?, .ssh?:
            settings += ["protocol.https.allow=always", "protocol.ssh.allow=always"]
        case .directory?, nil: break
        }
        words = settings.flatMap { ["-c", $0] }
        var variables = [
            "LC_ALL=C", "LANG=C", "GIT_DIR=.", "GIT_NO_REPLACE_OBJECTS=1",
            "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0",
        ]
        if !environment.mayAsk {
            // An empty GIT_ASKPASS also overrides core.askPass.
            variables += [
                "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
                "SSH_ASKPASS_REQUIRE=never",
                "GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=20"
                    + " -o ServerAliveInterval=15 -o ServerAliveCountMax=4",
            ]
        }
        self.variables = environment.variables + variables.map { Array($0.utf8) }
    }

    /// The command that git runs for the other side of a path, without hooks and programs of that
    /// repository, which may be on somebody's USB stick.
    ///
    /// - Parameters:
    ///   - name: `upload-pack` or `receive-pack`.
    ///   - permissions: Those of the repository, which new files get too, as our umask is narrow.
    static func otherSide(_ name: String, permissions: UInt32) -> String {
        let mask = String(~permissions & 0o777, radix: 8)
        let settings = [
            "protocol.allow=never", "core.hooksPath=/dev/null", "core.fsmonitor=false",
            "core.alternateRefsCommand=true", "gc.auto=0", "maintenance.auto=false",
            "receive.autogc=false", "receive.fsckObjects=true",
        ]
        return "umask 0\(mask) && git \(settings.map { "-c \($0)" }.joined(separator: " ")) \(name)"
    }

    /// Runs git to its end.
    ///
    /// - Parameters:
    ///   - holding: A lock that this git and its children keep, also after this process was killed.
    ///     Not for commands that may start a credential helper, which may never end.
    ///   - isFetch: Whether to limit the size of files.
    /// - Throws: ``PlaceError`` if git cannot be started or exceeds a limit.
    func run(
        _ arguments: [String], input: [UInt8]? = nil, holding lock: FileLock? = nil,
        isFetch: Bool = false, longestOutput: Int = Self.longestOutput
    ) throws(PlaceError) -> Result {
        // If we are killed, the link may lead to a new repository before git follows it.
        let repository = RealPath.of(directory) ?? directory
        let words = ["git", "-C", repository] + words + arguments
        let inputFile = try input.map { bytes throws(PlaceError) in try Self.memoryFile(bytes) }
        let child: ChildProcess
        do throws(ChildProcess.Failure) {
            // The shell's limit is in blocks of 512 bytes. Without the signal, git names the error.
            let blocks = environment.limits.fetch / 512
            let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f \(blocks) && exec \"$@\"", "sh"]
            child = try ChildProcess.start(
                isFetch ? "/bin/sh" : "git", (isFetch ? limited : []) + words,
                environment: variables,
                input: inputFile.map { .descriptor($0.descriptor) } ?? .null,
                output: .pipe, error: .pipe,
                further: lock.map { [$0.file.descriptor: .descriptor($0.file.descriptor)] } ?? [:],
                startsSession: !environment.mayAsk, searchesPath: true)
        } catch {
            guard error.error.number == ENOENT else {
                throw PlaceError(.noGit, "Cannot start git: \(error.error.reason).")
            }
            throw PlaceError(.noGit, "git is not installed. Install git 2.31 or later.")
        }
        return try finish(child, longestOutput: longestOutput)
    }

    private func finish(
        _ child: ChildProcess, longestOutput: Int
    ) throws(PlaceError) -> Result {
        var (output, error) = ([UInt8](), [UInt8]())
        var (isTooLong, status) = (false, Int32?.none)
        let end = DescriptorReading.readAll(
            [child.outputDescriptor, child.descriptor(2)],
            longestSilence: environment.limits.silence, limit: environment.limits.total,
            unless: {
                status = status ?? child.exitCodeIfEnded()
                return status != nil
            },
            { index, bytes in
                guard index == 0 else {
                    error += bytes
                    if error.count > 2 * Self.longestError { error.removeFirst(Self.longestError) }
                    return
                }
                if output.count + bytes.count > longestOutput {
                    // It ends at its next write.
                    isTooLong = true
                    child.send(SIGKILL)
                } else {
                    output += bytes
                }
            })
        guard end == .whole else {
            if environment.mayAsk { child.terminate() } else { child.endSession() }
            throw PlaceError(
                .timeout, "git did not answer in time. Check the network and the place, and retry.")
        }
        let code = status ?? child.wait()
        guard !isTooLong else {
            throw PlaceError(.tooLarge, "The place contains too much data for a group.")
        }
        if code == 127, error.isEmpty || !error.contains(0x20) {
            throw PlaceError(.noGit, "git is not installed. Install git 2.31 or later.")
        }
        return Result(
            status: code, output: output, error: String(decoding: error, as: UTF8.self))
    }

    /// A nameless file, because a pipe would have to be written while output is read.
    private static func memoryFile(_ bytes: [UInt8]) throws(PlaceError) -> OpenFile {
        let file = unsafe OpenFile(owning: zg_memory_file("zg-env-git"))
        do throws(SystemError) {
            guard file.descriptor >= 0 else { throw .last }
            unsafe try file.write(bytes.span.bytes)
            guard lseek(file.descriptor, 0, SEEK_SET) == 0 else { throw .last }
        } catch {
            throw PlaceError(error, "prepare data for git")
        }
        return file
    }
}
