import Foundation

/// Processes and those that they started.
package enum ProcessTree {
    /// The processes below one, in any depth.
    package static func descendants(of identifier: Int32) -> [Int32] {
        children(of: identifier).flatMap { [$0] + descendants(of: $0) }
    }

    /// The processes that one started and that still exist.
    package static func children(of identifier: Int32) -> [Int32] {
        let path = "/proc/\(identifier)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return threads.flatMap { thread in
            ((try? String(contentsOfFile: "\(path)/\(thread)/children", encoding: .utf8)) ?? "")
                .split(separator: " ").compactMap { Int32($0) }
        }
    }

    /// The name of a process's program; nil if it has ended.
    package static func name(of identifier: Int32) -> String? {
        (try? String(contentsOfFile: "/proc/\(identifier)/comm", encoding: .utf8))?
            .trimmingCharacters(in: .newlines)
    }
}
