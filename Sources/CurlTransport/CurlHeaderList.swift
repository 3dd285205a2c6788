internal import CCurl
internal import HTTPClient
internal import Sealing

/// The header fields of a request as libcurl's linked list. libcurl does not copy the list, so the
/// token stays in guarded memory until it is sent.
@safe
final class CurlHeaderList {
    private var lines: SecretBytes
    private let nodes: UnsafeMutableBufferPointer<curl_slist>

    init(_ request: HTTPRequest) throws(SealingError) {
        // Without this field libcurl sends "Expect: 100-continue" for a large body and waits a
        // second.
        var texts = ["Expect:"]
        for (name, value) in request.headers where Self.isClean(name) && Self.isClean(value) {
            texts.append("\(name): \(value)")
        }
        if request.token != nil { texts.append("Authorization: Bearer ") }
        let textBytes = texts.reduce(0) { $0 + $1.utf8.count + 1 }
        lines = try SecretBytes(count: textBytes + (request.token?.count ?? 0))
        var offset = 0
        var starts: [Int] = []
        lines.withMutableBytes { target in
            for text in texts {
                starts.append(offset)
                for byte in text.utf8 {
                    target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
                    offset += 1
                }
                offset += 1
            }
            // The token belongs to the last text.
            if let token = request.token {
                token.withBytes { bytes in
                    var tail = target._mutatingExtracting(droppingFirst: offset - 1)
                    tail.copy(from: bytes)
                }
            }
        }
        unsafe nodes = .allocate(capacity: starts.count)
        // The region does not move while `lines` lives, which is as long as this object.
        lines.withMutableBytes { target in
            unsafe target.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                for (place, start) in starts.enumerated() {
                    let text = unsafe (base + start).assumingMemoryBound(to: CChar.self)
                    unsafe nodes.initializeElement(
                        at: place, to: curl_slist(data: text, next: nil))
                }
            }
        }
        for place in starts.indices.dropLast() {
            unsafe nodes[place].next = unsafe nodes.baseAddress.map { unsafe $0 + place + 1 }
        }
    }

    deinit {
        unsafe nodes.deinitialize()
        unsafe nodes.deallocate()
    }

    var first: UnsafeMutableRawPointer? { unsafe UnsafeMutableRawPointer(nodes.baseAddress) }

    /// Returns whether `text` has no control characters that could end a header line.
    private static func isClean(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
