internal import CMicroHTTPD

/// A connection of the server. Valid until its request has ended.
@safe
struct ConnectionHandle: @unchecked Sendable {
    let socket: Int32
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        socket = unsafe zg_connection_socket(pointer)
    }

    /// Suspends it until another thread resumes it, which may happen at once. Call only within a
    /// callback.
    func suspend() { unsafe MHD_suspend_connection(pointer) }

    func resume() { unsafe MHD_resume_connection(pointer) }

    /// Returns a header field in the library's memory; valid until the request has ended.
    func field(_ name: String) -> UnsafePointer<CChar>? {
        unsafe MHD_lookup_connection_value(pointer, .HEADER_KIND, name)
    }

    /// Sends a response, which the caller still owns.
    func answer(_ status: UInt32, _ response: OpaquePointer) -> MHD_Result {
        unsafe MHD_queue_response(pointer, status, response)
    }
}
