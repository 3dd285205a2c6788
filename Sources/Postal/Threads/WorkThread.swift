internal import Glibc

/// A thread of its own that does one thing until it returns.
@safe
final class WorkThread: @unchecked Sendable {
    private var thread = pthread_t()

    /// Starts it; nil where the system gives no thread.
    init?(_ body: @escaping @Sendable () -> Void) {
        let box = unsafe Unmanaged.passRetained(Box(body))
        let status = unsafe pthread_create(
            &thread, nil, runBody, UnsafeMutableRawPointer(box.toOpaque()))
        guard status == 0 else {
            unsafe box.release()
            return nil
        }
    }

    /// Waits until it has returned. Once only.
    func join() {
        _ = pthread_join(thread, nil)
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
