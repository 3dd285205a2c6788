import Foundation

/// A failed system call of the test support.
package struct SystemCallError: Error, CustomStringConvertible {
    /// The call, its error number and the kernel's message.
    package let description: String

    /// Takes the error number from `errno` by default.
    package init(_ call: String, number: Int32 = errno) {
        description = unsafe "\(call): \(number), \(String(cString: strerror(number)))"
    }
}
