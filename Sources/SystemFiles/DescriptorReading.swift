internal import Glibc

/// Reads from descriptors of other programs.
package enum DescriptorReading {
    /// How reading ended.
    package enum End {
        case whole, failed
        /// No data for too long.
        case silence
        /// The end was not reached in time.
        case overtime
    }

    /// Passes all data to `body` until every descriptor ends.
    ///
    /// - Parameters:
    ///   - limit: The longest time in all.
    ///   - hasEnded: Asked ten times a second once the first descriptor has ended; true ends reading.
    ///     A background process may keep the others open.
    ///   - body: Gets the index of a descriptor and its data.
    package static func readAll(
        _ descriptors: [Int32], longestSilence: Duration, limit: Duration? = nil,
        unless hasEnded: () -> Bool = { false }, _ body: (Int, ArraySlice<UInt8>) -> Void
    ) -> End {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let end = limit.map { ContinuousClock.now + $0 }
        var silentSince = ContinuousClock.now
        while entries.contains(where: { $0.fd >= 0 }) {
            let now = ContinuousClock.now
            if let end, now >= end { return .overtime }
            let wake = min(silentSince + longestSilence, end ?? silentSince + longestSilence)
            guard wake > now else { return .silence }
            var pause = Int32(min((wake - now) / .milliseconds(1), 1_000_000)) + 1
            if entries[0].fd < 0 {
                if hasEnded() { return .whole }
                pause = min(pause, 100)
            }
            let found = unsafe poll(&entries, nfds_t(entries.count), pause)
            if found < 0, errno != EINTR { return .failed }
            guard found > 0 else { continue }
            silentSince = .now
            for index in entries.indices where entries[index].fd >= 0 && entries[index].revents != 0
            {
                let descriptor = entries[index].fd
                let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe read(descriptor, into: buffer)
                }
                if got < 0 { return .failed }
                // poll ignores negative descriptors.
                if got == 0 { entries[index].fd = -1 } else { body(index, bytes[..<got]) }
            }
        }
        return .whole
    }

    /// Waits for data or the end.
    package static func waitForInput(_ descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, -1)
    }

    /// Reads available data; retries after a signal.
    package static func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        while true {
            let got = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if got < 0, errno == EINTR { continue }
            return got
        }
    }
}
