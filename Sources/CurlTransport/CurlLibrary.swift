internal import CCurl
internal import HTTPClient

/// libcurl, loaded once per process, at first use.
@safe
struct CurlLibrary: @unchecked Sendable {
    /// The addresses of its functions. Never written after loading.
    let table: UnsafePointer<zg_curl>

    /// The names distributions install it under: built with OpenSSL, or with GnuTLS.
    private static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    private static let opened: Result<CurlLibrary, TransportError> = open()

    /// Returns the library, loading it at the first call.
    ///
    /// - Throws: ``TransportError/Code/libraryMissing`` if it is not installed or too old.
    static func shared() throws(TransportError) -> CurlLibrary { try opened.get() }

    private static func open() -> Result<CurlLibrary, TransportError> {
        let size = MemoryLayout<zg_curl>.size
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: size, alignment: MemoryLayout<zg_curl>.alignment)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        let table = unsafe memory.assumingMemoryBound(to: zg_curl.self)
        var status: Int32 = 1
        for name in names where status != 0 {
            status = unsafe zg_curl_load(table, name)
        }
        if status == 0 { return .success(unsafe CurlLibrary(table: UnsafePointer(table))) }
        unsafe memory.deallocate()
        let reason =
            switch status {
            case 1: "libcurl.so.4 is not installed"
            case 2: "libcurl is older than 7.66"
            default: "libcurl cannot be initialized"
            }
        return .failure(
            TransportError(.libraryMissing, mayHaveReachedServer: false, reason: reason))
    }

    /// Runs `body` with SIGPIPE suppressed.
    func withoutPipeSignal<R>(_ body: () -> R) -> R {
        var guarded = zg_pipe_guard()
        unsafe zg_pipe_guard_enter(&guarded)
        defer { unsafe zg_pipe_guard_leave(&guarded) }
        return body()
    }

    /// Returns libcurl's text for `code`, such as "Couldn't connect to server".
    func words(for code: CURLcode) -> String {
        guard let words = unsafe table.pointee.easy_strerror(code) else { return "error" }
        return unsafe String(cString: words)
    }
}
