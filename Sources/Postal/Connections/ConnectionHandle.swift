internal import CMicroHTTPD

/// A connection of the server, for those who resume it. Only valid until its request has ended.
@safe
struct ConnectionHandle: @unchecked Sendable {
    let socket: Int32
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        socket = unsafe zg_connection_socket(pointer)
    }

    /// Has it wait until somebody resumes it, which may happen at once. Only within a callback.
    func suspend() { unsafe MHD_suspend_connection(pointer) }

    func resume() { unsafe MHD_resume_connection(pointer) }

    /// A field of the request, as the library has it; valid until the request has ended.
    func field(_ name: String) -> UnsafePointer<CChar>? {
        unsafe MHD_lookup_connection_value(pointer, .HEADER_KIND, name)
    }

    /// Answers the request. The response still belongs to the caller.
    func answer(_ status: UInt32, _ response: OpaquePointer) -> MHD_Result {
        unsafe MHD_queue_response(pointer, status, response)
    }
}
