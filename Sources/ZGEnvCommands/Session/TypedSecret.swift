internal import CommandLineKit
internal import Sealing

/// A secret of one line, such as a token: typed at a hidden prompt, or read from stdin if that is not a
/// terminal. Never an argument.
enum TypedSecret {
    /// Reads the secret into guarded memory. Trims the whitespace around it on stdin.
    ///
    /// - Parameter what: Its name in messages, such as "token".
    /// - Throws: ``ExitCode/usage`` if it is empty.
    static func read(
        _ what: String, prompt: String, _ workspace: Workspace
    ) throws -> SecretSlice {
        let arena = SecretArena(firstRegionByteCount: 8 << 10)
        if TerminalDevice.isTerminal(0) {
            let terminal = try TerminalDevice(
                erasesPrompts: workspace.context.variable("TERM") != "dumb")
            let room = try arena.allocate(count: 4_096)
            let count = try room.withMutableBytes {
                try terminal.readHidden(prompt: prompt, into: &$0)
            }
            return room.part(0..<count)
        }
        try workspace.context.secretDescriptors.checkInput(for: what)
        let text = try SecretInput.read(descriptor: 0, limit: 4_097, what: "The \(what) on stdin")
        let (start, end) = text.withBytes { bytes in
            var (start, end) = (0, bytes.byteCount)
            while start < end, bytes.byte(at: start) <= 0x20 { start += 1 }
            while end > start, bytes.byte(at: end - 1) <= 0x20 { end -= 1 }
            return (start, end)
        }
        guard end > start else {
            throw CommandError(.usage, "No \(what) was given on stdin.")
        }
        return try text.withBytes { try arena.copy($0.extracting(start..<end)) }
    }
}
