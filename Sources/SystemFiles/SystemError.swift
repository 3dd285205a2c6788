internal import Glibc

/// An `errno` value.
package struct SystemError: Error, Equatable, Sendable {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The error of the last failed call on this thread.
    package static var last: SystemError { SystemError(errno) }

    /// The C library's text, such as "No such file or directory".
    package var reason: String { unsafe String(cString: strerror(number)) }

    /// Whether the path does not exist.
    package var isNotFound: Bool { number == ENOENT || number == ENOTDIR }

    /// Returns the result of `call`, translating its error.
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
