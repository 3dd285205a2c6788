import Glibc

/// What a call costs this thread, however busy the machine is.
enum ProcessorTime {
    static func seconds(_ body: () -> Void) -> Double {
        let start = now()
        body()
        return now() - start
    }

    private static func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
