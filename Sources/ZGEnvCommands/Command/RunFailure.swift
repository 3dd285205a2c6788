/// The failure of `run` to start a program, with the exit status.
struct RunFailure: Error {
    let status: Int32
    let error: CommandError
}
