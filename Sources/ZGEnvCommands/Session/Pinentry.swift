internal import Glibc
internal import Sealing
internal import SystemFiles

/// Asks for a passphrase in a window: GnuPG's `pinentry`, over the Assuan protocol on its pipes.
struct Pinentry {
    private let environment: [[UInt8]]

    /// nil without a display.
    init?(_ context: Context) {
        guard context.hasDisplay else { return nil }
        environment = context.rawEnvironment
    }

    /// Asks for a secret.
    ///
    /// - Parameter what: The kind of secret, in one lowercase word.
    /// - Throws: ``ExitCode/locked`` if there is no pinentry program or the user declines.
    func ask(_ prompt: String, for what: String = "passphrase") throws -> SecretBytes {
        let process: ChildProcess
        do {
            process = try ChildProcess.start(
                "pinentry", ["pinentry"], environment: environment, input: .pipe, output: .pipe,
                searchesPath: true)
        } catch {
            throw CommandError(
                .locked, "There is no terminal, and no pinentry program to ask for the \(what).",
                hint: what == "passphrase"
                    ? "Install pinentry, or use --passphrase-file."
                    : "Install pinentry, or pass the \(what) on stdin.")
        }
        defer { process.terminate() }
        var conversation = Conversation(process: process)
        do {
            try conversation.expectOK()
            try conversation.send("SETPROMPT \(what.prefix(1).uppercased())\(what.dropFirst()):")
            try conversation.send("SETDESC \(Self.escaped(prompt))")
            if let answer = try conversation.askForPin() { return answer }
        } catch is Conversation.Failure {
            throw CommandError(.locked, "The pinentry program returned an invalid response.")
        }
        throw CommandError(.locked, "No \(what) was entered.")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\n", with: "%0A").replacing("\r", with: "%0D")
    }

    private struct Conversation {
        struct Failure: Error {}

        let process: ChildProcess
        static let lineLimit = 4_096

        mutating func send(_ line: String) throws {
            try write(line)
            try expectOK()
        }

        func write(_ line: String) throws {
            let bytes = Array((line + "\n").utf8)
            let count = unsafe Glibc.write(process.inputDescriptor, bytes, bytes.count)
            guard count == bytes.count else { throw Failure() }
        }

        mutating func expectOK() throws {
            let line = try readLine()
            guard line.withBytes({ Self.starts($0, "OK") }) else { throw Failure() }
        }

        /// Returns the typed text; nil if the user declines.
        mutating func askForPin() throws -> SecretBytes? {
            try write("GETPIN")
            // A long answer takes several lines.
            var answer = try SecretBuffer(capacity: PassphraseSource.limit)
            while true {
                let line = try readLine()
                if line.withBytes({ Self.starts($0, "D ") }) {
                    try Self.decode(line, into: &answer)
                    guard answer.count <= PassphraseSource.limit else { throw Failure() }
                } else if line.withBytes({ Self.starts($0, "OK") }) {
                    if answer.count == 0 { return nil }
                    return try answer.withBytes { try SecretBytes(copying: $0) }
                } else if line.withBytes({ Self.starts($0, "ERR") }) {
                    return nil
                } else if !line.withBytes({ Self.starts($0, "S ") || Self.starts($0, "#") }) {
                    // Neither a status nor a comment: waiting for more could last forever.
                    throw Failure()
                }
            }
        }

        private func readLine() throws -> SecretBuffer {
            var line = try SecretBuffer(capacity: Self.lineLimit)
            while line.count < Self.lineLimit {
                let got = line.appendWritten(limit: 1) { target in
                    unsafe target.withUnsafeMutableBytes { bytes in
                        max(unsafe read(process.outputDescriptor, bytes.baseAddress, 1), 0)
                    }
                }
                guard got == 1 else { throw Failure() }
                if line.withBytes({ $0.byte(at: $0.byteCount - 1) }) == 0x0A {
                    line.removeLast(1)
                    return line
                }
            }
            throw Failure()
        }

        private static func starts(_ line: RawSpan, _ word: StaticString) -> Bool {
            let wanted = Array(word.description.utf8)
            guard line.byteCount >= wanted.count else { return false }
            return wanted.indices.allSatisfy { line.byte(at: $0) == wanted[$0] }
        }

        /// Decodes Assuan's %XX.
        private static func decode(
            _ line: borrowing SecretBuffer, into text: inout SecretBuffer
        ) throws {
            try line.withBytes { line in
                var index = 2
                while index < line.byteCount {
                    var byte = line.byte(at: index)
                    index += 1
                    if byte == 0x25, index + 1 < line.byteCount,
                        let high = Hexadecimal.value(of: line.byte(at: index)),
                        let low = Hexadecimal.value(of: line.byte(at: index + 1))
                    {
                        byte = high << 4 | low
                        index += 2
                    }
                    try text.append(byte)
                }
            }
        }
    }
}
