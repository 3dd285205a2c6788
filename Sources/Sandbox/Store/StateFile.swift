internal import Glibc
internal import JSON
internal import SystemFiles

/// The file that keeps a sandbox's state.
struct StateFile: Sendable {
    private struct Envelope: Codable {
        var format: Int
        var state: SandboxState
    }

    private static let format = 1
    let path: String

    /// Returns the stored state; `nil` if there is no file yet.
    func read() throws(SandboxError) -> SandboxState? {
        guard (try? FileFacts(path)) != nil else { return nil }
        guard let bytes = OpenFile.wholeBytes(of: path, limit: 1 << 30),
            let envelope = try? JSONDecoder().decode(Envelope.self, from: bytes),
            envelope.format == Self.format
        else {
            throw SandboxError(
                code: .stateUnreadable, reason: "Cannot read the state file \(path).")
        }
        return envelope.state
    }

    /// Replaces the file atomically; only its owner may read it.
    func write(_ state: SandboxState) throws(SandboxError) {
        let envelope = Envelope(format: Self.format, state: state)
        do {
            let bytes = try JSONEncoder().encode(envelope)
            try FileReplacement.write(
                to: path, by: ".sandbox-state-\(UInt64.random(in: .min ... .max))", replaces: true
            ) {
                try $0.write(unsafe bytes.span.bytes)
            }
        } catch {
            throw SandboxError(
                code: .stateUnwritable, reason: "Cannot write the state file \(path).")
        }
    }
}
