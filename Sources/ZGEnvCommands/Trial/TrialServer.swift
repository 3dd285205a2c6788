internal import CommandLineKit
internal import Glibc
internal import JSON
internal import SystemFiles

/// A running `zg-env-sandbox`, which takes the place of Vercel.
final class TrialServer {
    private static let program = "zg-env-sandbox"
    private static let limit = Duration.seconds(20)

    let url: String
    let token: String
    private let process: ChildProcess

    /// Starts the program that is installed beside this one, or found in PATH, and waits until it
    /// listens.
    ///
    /// - Throws: ``ExitCode/failed``.
    init(_ context: Context, environment: [[UInt8]]) throws {
        let beside = RealPath.of("/proc/self/exe").flatMap(RealPath.above)
        let search = ExecutableSearch(path: context.variable("PATH"))
        let found = beside.flatMap { search.find("\($0)/\(Self.program)") }
        guard let path = found ?? search.find(Self.program) else {
            throw CommandError(
                .failed,
                "\(Self.program), which takes the place of Vercel in zg-env try, is not installed.",
                hint: "Install the package \(Self.program), or run: make install")
        }
        process = try ChildProcess.start(
            path,
            [Self.program, "--port", "0", "--build-seconds", "1", "--until-stdin-closes"],
            environment: environment, input: .pipe, output: .pipe, startsSession: true,
            searchesPath: false)
        do {
            let line = try Self.firstLine(of: process)
            guard let members = (try? JSONValue(parsing: line))?.object,
                let url = members["url"]?.string, let token = members["token"]?.string,
                url.hasPrefix("http://127.0.0.1:")
            else {
                throw CommandError(.failed, "\(path) did not start.")
            }
            (self.url, self.token) = (url, token)
        } catch {
            process.endSession()
            throw error
        }
    }

    /// Returns the first line of the output, or what there is of it when the time is over, the
    /// program has ended or a signal has arrived.
    private static func firstLine(of process: ChildProcess) throws(CommandError) -> [UInt8] {
        var (line, bytes) = ([UInt8](), [UInt8](repeating: 0, count: 4 << 10))
        let end = ContinuousClock.now + limit
        while !line.contains(0x0A), line.count <= bytes.count, Interrupts.pending == nil,
            ContinuousClock.now < end
        {
            var entry = pollfd(fd: process.outputDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, 100) > 0 else { continue }
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe DescriptorReading.read(process.outputDescriptor, into: buffer)
            }
            guard count > 0 else { break }
            line += bytes[..<count]
        }
        return line
    }

    func stop() { process.endSession() }
}
