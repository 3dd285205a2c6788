internal import Glibc
internal import JSON
internal import Release
internal import Sandbox
internal import Threads

/// The signals that end ``SandboxProgram``.
private var endSignals: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigaddset(&signals, SIGINT)
    return signals
}

/// Blocks SIGTERM and SIGINT for ``SandboxProgram`` and ignores SIGPIPE.
func blockEndSignals() {
    // Shells start background programs with SIGINT ignored, and the kernel drops an ignored signal
    // even if a thread waits for it.
    signal(SIGTERM, SIG_DFL)
    signal(SIGINT, SIG_DFL)
    var signals = endSignals
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    signal(SIGPIPE, SIG_IGN)
}

/// Starts a sandbox and waits for SIGTERM, SIGINT or the end of its input.
struct SandboxProgram {
    let arguments: [String]

    /// Returns the exit code: 0 after one of these, 2 for wrong arguments, 1 for anything else.
    func run() -> Int32 {
        let configuration: SandboxConfiguration
        let endsWithInput: Bool
        do {
            switch try SandboxArguments.request(arguments) {
            case .help: return write(SandboxArguments.help, to: STDOUT_FILENO) ? 0 : 1
            case .version:
                return write("zg-env-sandbox \(Release.version)\n", to: STDOUT_FILENO) ? 0 : 1
            case .start(let wanted, let ends): (configuration, endsWithInput) = (wanted, ends)
            }
        } catch {
            let sentence = (error as? SandboxArguments.UsageError)?.sentence ?? "\(error)"
            _ = write("zg-env-sandbox: \(sentence)\n", to: STDERR_FILENO)
            return 2
        }
        allowConnections()
        do {
            let server = try SandboxServer(configuration: configuration)
            let (url, token) = try server.start()
            let (address, secret) = (
                JSONValue.string(url).encodedText, JSONValue.string(token).encodedText
            )
            guard write("{\"url\":\(address),\"token\":\(secret)}\n", to: STDOUT_FILENO) else {
                server.stop()
                return 1
            }
            if endsWithInput {
                guard let thread = WorkThread(Self.signalAtEndOfInput) else {
                    _ = write(
                        "zg-env-sandbox: Cannot watch standard input: no thread can be started.\n",
                        to: STDERR_FILENO)
                    server.stop()
                    return 1
                }
                thread.detach()
            }
            waitForEnd()
            server.stop()
            return 0
        } catch {
            _ = write("zg-env-sandbox: \(error.reason)\n", to: STDERR_FILENO)
            return error.code == .seedUnreadable ? 2 : 1
        }
    }

    /// Raises the number of files that may be open, each connection being one, as far as allowed.
    private func allowConnections() {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard unsafe getrlimit(files, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(files, &limit)
    }

    /// Ends ``waitForEnd()`` once standard input is closed.
    private static func signalAtEndOfInput() {
        var byte: UInt8 = 0
        var count = 1
        while count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN)) {
            var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&entry, 1, -1)
            count = unsafe read(STDIN_FILENO, &byte, 1)
        }
        kill(getpid(), SIGTERM)
    }

    private func waitForEnd() {
        var signals = endSignals
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
    }

    private func write(_ text: String, to file: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                unsafe Glibc.write(file, buffer.baseAddress, buffer.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
