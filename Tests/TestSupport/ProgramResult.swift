import Glibc

/// The output of a program, and how it ended.
package struct ProgramResult: Sendable {
    /// How the program ended.
    package let end: ChildProcess.End
    /// Whether the program was killed at its time limit.
    package let timedOut: Bool
    /// Its process id.
    package let identifier: Int32
    /// All bytes of its standard output, if that was a pipe.
    package let standardOutput: [UInt8]
    /// All bytes of its standard error, if that was a pipe.
    package let standardError: [UInt8]
    /// All that its terminal showed, echo included. Lines end with carriage return and line feed.
    package let terminal: [UInt8]
    /// Whether the terminal echoed input after the program had ended; nil without a terminal.
    package let echoAtEnd: Bool?
    /// The number of completed script steps.
    package let stepsDone: Int
    /// From start to end.
    package let duration: Duration

    /// The exit status, or nil if a signal ended the program.
    package var status: Int32? {
        if case .exited(let status) = end { status } else { nil }
    }
    /// The signal that ended the program, or nil.
    package var signal: Int32? {
        if case .signalled(let signal) = end { signal } else { nil }
    }

    /// ``standardOutput`` as text.
    package var output: String { String(decoding: standardOutput, as: UTF8.self) }
    /// ``standardError`` as text.
    package var error: String { String(decoding: standardError, as: UTF8.self) }
    /// ``terminal`` as text.
    package var screen: String { String(decoding: terminal, as: UTF8.self) }
}
