internal import CLinux
internal import Glibc

extension PostalContext {
    static var live: PostalContext {
        var environment: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let text = unsafe String(validatingCString: entry) ?? ""
            if let equals = text.firstIndex(of: "=") {
                let name = String(text[..<equals])
                environment[name] = environment[name] ?? String(text[text.index(after: equals)...])
            }
            unsafe next += 1
        }
        let arguments = (0..<Int(CommandLine.argc)).dropFirst().map { place in
            unsafe CommandLine.unsafeArgv[place].map { text in
                unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
            } ?? []
        }
        return PostalContext(
            arguments: arguments, environment: environment,
            clock: Clock(
                now: { milliseconds(CLOCK_REALTIME) }, steady: { milliseconds(CLOCK_MONOTONIC) }))
    }

    /// Returns the time of a clock.
    static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
