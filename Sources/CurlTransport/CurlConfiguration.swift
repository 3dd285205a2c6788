package import HTTPClient

/// The settings of a ``CurlTransport``.
package struct CurlConfiguration {
    /// The timeouts of requests that do not set their own.
    package var timeouts = HTTPTimeouts()
    /// The largest accepted response body, in bytes. Streams have no limit.
    package var maximumAnswerByteCount = 64 << 20
    /// A proxy's URL for `https` requests. Nil leaves the choice to libcurl, which reads
    /// `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`; an empty string disables proxies. Plain `http`,
    /// which only goes to this machine, never uses a proxy.
    package var proxy: String?
    /// A file of CA certificates that replaces the system's.
    package var certificateAuthorityFile: String?
    /// Polled about ten times a second during each call; true cancels it.
    package var shouldCancel: () -> Bool = { false }

    package init() {}
}
