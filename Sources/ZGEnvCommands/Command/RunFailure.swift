/// A program that `run` could not become or start, with the exit status.
struct RunFailure: Error {
    let status: Int32
    let error: CommandError
}
