internal import Glibc

/// An error of the kernel's, as errno(3) names it.
package struct SystemError: Error, Equatable, Sendable {
    /// The number, such as `ENOENT`.
    package let number: Int32

    /// Names one.
    package init(_ number: Int32) {
        self.number = number
    }

    /// That of the call that failed last on this thread.
    package static var last: SystemError { SystemError(errno) }

    /// What the C library calls it, such as "No such file or directory".
    package var reason: String { unsafe String(cString: strerror(number)) }

    /// Tells whether there is nothing by that name.
    package var isNotFound: Bool { number == ENOENT || number == ENOTDIR }

    /// Gives what `call` gives, and an error of the caller's for one of the kernel's.
    package static func mapped<R: ~Copyable, E>(
        _ call: @autoclosure () throws(SystemError) -> R, _ error: (SystemError) -> E
    ) throws(E) -> R {
        do throws(SystemError) {
            return try call()
        } catch let failure {
            throw error(failure)
        }
    }
}
