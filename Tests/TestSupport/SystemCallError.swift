import Foundation

/// A system call of the test's own scaffolding that failed.
package struct SystemCallError: Error, CustomStringConvertible {
    /// Which call, with its number of error and the kernel's words for it.
    package let description: String

    /// Takes the number of the error from `errno` unless it is given.
    package init(_ call: String, number: Int32 = errno) {
        description = unsafe "\(call): \(number), \(String(cString: strerror(number)))"
    }
}
