internal import Glibc

/// A thread that runs one closure.
@safe
package final class WorkThread: @unchecked Sendable {
    private var thread = pthread_t()

    /// Starts the thread. Returns nil if the system cannot create one.
    package init?(_ body: @escaping @Sendable () -> Void) {
        let box = unsafe Unmanaged.passRetained(Box(body))
        let status = unsafe pthread_create(
            &thread, nil, runBody, UnsafeMutableRawPointer(box.toOpaque()))
        guard status == 0 else {
            unsafe box.release()
            return nil
        }
    }

    /// Waits until the closure returns. Call it only once.
    package func join() {
        _ = pthread_join(thread, nil)
    }

    /// Lets the thread end without ``join()``. Call it only once.
    package func detach() {
        _ = pthread_detach(thread)
    }

    /// Blocks the calling thread for some time.
    package static func pause(milliseconds: Int64) {
        _ = Monitor(()).wait(milliseconds: milliseconds) { _ -> Void? in nil }
    }
}

private final class Box {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
    return nil
}
