internal import SystemFiles

/// The memory available for a passphrase check: the kernel's figure or the rest of the control group's
/// limit, whichever is less.
enum AvailableMemory {
    /// Returns the number of bytes; nil if neither can be read.
    static func byteCount() -> UInt64? {
        [fromKernel(), fromControlGroup()].compactMap { $0 }.min()
    }

    private static func fromKernel() -> UInt64? {
        guard let text = SmallFile.text("/proc/meminfo") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("MemAvailable:") {
            let number = line.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }
            return number.map { $0 << 10 }
        }
        return nil
    }

    /// Returns the least rest (limit minus usage) of all levels of control group v2 up to the root.
    private static func fromControlGroup() -> UInt64? {
        guard let text = SmallFile.text("/proc/self/cgroup"),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return nil }
        let paths = sequence(first: String(line.dropFirst(3)), next: RealPath.above)
        return paths.compactMap { path -> UInt64? in
            let directory = "/sys/fs/cgroup" + (path == "/" ? "" : path)
            guard let limit = number(directory + "/memory.max"),
                let used = number(directory + "/memory.current")
            else { return nil }
            return limit > used ? limit - used : 0
        }.min()
    }

    private static func number(_ path: String) -> UInt64? {
        SmallFile.text(path).flatMap { UInt64($0.split(separator: "\n").first ?? "") }
    }
}
