package import VercelAPI

/// How a ``CurlTransport`` works.
package struct CurlConfiguration {
    /// How long to wait where a request does not say.
    package var timeouts = HTTPTimeouts()
    /// The largest answer that is accepted, in bytes. Streams have no bound.
    package var maximumAnswerByteCount = 64 << 20
    /// A proxy's URL for `https` requests; nil leaves it to libcurl, which reads `HTTPS_PROXY`,
    /// `ALL_PROXY` and `NO_PROXY`; empty for none. Plain `http`, which goes to this machine alone,
    /// never takes a proxy.
    package var proxy: String?
    /// A file of certificates to trust instead of the system's.
    package var certificateAuthorityFile: String?
    /// Asked about ten times a second during each call; true ends it.
    package var shouldCancel: () -> Bool = { false }

    /// Makes the usual configuration.
    package init() {}
}
