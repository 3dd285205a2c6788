internal import CCurl
internal import HTTPClient
internal import Sealing

extension CurlTransfer {
    // libcurl calls these during `multi_perform`, on the transport's own thread.

    static let onBody: zg_curl_data_callback = { bytes, size, count, context in
        guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
        let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe transfer.receive(piece) ? piece.count : Int.max
    }

    static let onHeader: zg_curl_data_callback = { bytes, size, count, context in
        guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
        let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
        return unsafe transfer.receive(headerLine: line) ? line.count : Int.max
    }

    static let onRead: zg_curl_data_callback = { bytes, size, count, context in
        guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
        let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return unsafe transfer.read(
            into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }

    static let onSeek: zg_curl_seek_callback = { context, offset, origin in
        guard let context = unsafe context else { return CURL_SEEKFUNC_FAIL }
        let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.seek(to: offset, from: origin) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }

    private func countReceived(_ count: Int) {
        let now = zg_curl_now()
        lastActivity = now
        spanStart = spanStart ?? now
        spanByteCount += count
    }

    private func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        countReceived(piece.count)
        hasBody = true
        guard
            isStreaming && (200..<300).contains(status)
                || piece.count <= maximumByteCount - received.count
        else {
            failure = .tooLarge
            return false
        }
        do throws(SealingError) {
            if received.count == 0, let length = headers.number("Content-Length") {
                try received.reserve(Int(min(length, 1 << 20)))
            }
            try received.append(unsafe piece.bytes)
            return true
        } catch {
            failure = .failed
            return false
        }
    }

    private func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        countReceived(line.count)
        // Trailer fields are not needed.
        guard !hasBody else { return true }
        let bytes = unsafe Array(line)
        if bytes.starts(with: "HTTP/".utf8) {
            // Each status line starts a new header: the one before was a 1xx.
            headers = HTTPHeaders()
            status = Self.status(of: bytes)
            isHeadComplete = false
            return true
        }
        if bytes == [0x0D, 0x0A] || bytes == [0x0A] { isHeadComplete = true }
        guard headers.append(line: bytes) else {
            failure = .tooLarge
            return false
        }
        return true
    }

    private static func status(of line: [UInt8]) -> Int {
        let digits = line.drop { $0 != 0x20 }.dropFirst().prefix(3)
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    private func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        lastActivity = zg_curl_now()
        guard let body = request.body, bodyOffset < body.count else { return 0 }
        bodyWasRead = true
        let count = min(target.count, body.count - bodyOffset)
        body.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { all in
                unsafe target.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: all[bodyOffset..<(bodyOffset + count)]))
            }
        }
        bodyOffset += count
        return count
    }

    /// Rewinds the body. libcurl asks for this before it resends one.
    private func seek(to offset: curl_off_t, from origin: Int32) -> Bool {
        guard origin == 0, offset >= 0, let body = request.body, offset <= body.count,
            request.isRepeatable || !bodyWasRead
        else { return false }
        bodyOffset = Int(offset)
        return true
    }
}
