/// The failure of `run` to start a program, with the exit status: 126 if it cannot be executed, 127 if it
/// was not found, 125 for any other reason.
struct RunFailure: Error {
    let status: Int32
    let error: CommandError

    init(_ status: Int32, _ code: ExitCode, _ message: String, hint: String? = nil) {
        self.status = status
        error = CommandError(code, message, hint: hint)
    }
}
