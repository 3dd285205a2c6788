import CTestSupport
import Foundation
import Glibc

/// The processes that have a file open for writing.
///
/// A process that another thread just started has all our descriptors until its program begins, and
/// the kernel starts no program that is open for writing (`ETXTBSY`).
enum FileWriters {
    /// Waits until no process has a file open for writing, up to 60 s. Does not wait on a file
    /// system without leases.
    static func wait(for path: String) throws {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemCallError("open") }
        defer { close(file) }
        let end = ContinuousClock.now + .seconds(60)
        while zg_test_lease(file) != 0 {
            if errno == EINVAL { return }
            guard errno == EAGAIN, ContinuousClock.now < end else { throw SystemCallError("lease") }
            usleep(1_000)
        }
    }
}
