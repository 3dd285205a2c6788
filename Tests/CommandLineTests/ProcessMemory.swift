import Foundation
import Glibc
import TestSupport

/// The writable memory of another process.
struct ProcessMemory {
    private struct Region {
        /// Whether it is excluded from core files, like all guarded memory (`dd` in
        /// proc_pid_smaps(5)).
        let isGuarded: Bool
        let bytes: Data
    }

    private var regions: [Region] = []

    init(of process: Int32) throws {
        let lines = String(decoding: SmallFile.bytes("/proc/\(process)/smaps"), as: UTF8.self)
            .split(separator: "\n")
        let descriptor = unsafe open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemCallError("open the memory of a process") }
        defer { close(descriptor) }
        var range: Range<UInt64>?
        for line in lines {
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            if ends.count == 2 {
                // File mappings that were never written to hold nothing of this run.
                range = fields[1].hasPrefix("rw") ? ends[0]..<ends[1] : nil
            } else if fields[0] == "VmFlags:", let found = range {
                var data = Data(count: Int(found.upperBound - found.lowerBound))
                let count = unsafe data.withUnsafeMutableBytes {
                    unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(found.lowerBound))
                }
                if count > 0 {
                    regions.append(
                        Region(isGuarded: fields.contains("dd"), bytes: data.prefix(count)))
                }
            }
        }
    }

    /// - Parameter isGuarded: Searches guarded memory only, or everything else; nil for both.
    func contains(_ wanted: [UInt8], isGuarded: Bool? = nil) -> Bool {
        regions.contains {
            (isGuarded ?? $0.isGuarded) == $0.isGuarded && $0.bytes.range(of: Data(wanted)) != nil
        }
    }
}
