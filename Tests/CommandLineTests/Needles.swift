import Foundation

/// A secret test value and every encoding in which it could be found.
struct Marker {
    /// 24 random letters and digits, which JSON, shells and URLs write unchanged.
    let text: String
    let name: String

    /// Wraps a known text.
    init(name: String, text: String) {
        (self.name, self.text) = (name, text)
    }

    init(_ name: String) {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
        let digits = Array("23456789")
        self.name = name
        // Contains digits, since a word of letters alone may be repeated as an unknown command.
        text = String(
            (0..<24).map { place in
                let set = place % 4 == 2 ? digits : letters
                return set[Int.random(in: set.indices)]
            })
    }
}

/// Searches bytes for markers: either half of each, in clear, base64 and hexadecimal.
struct Needles {
    private struct Needle {
        let bytes: [UInt8]
        let what: String
    }
    private var needles: [Needle] = []

    init(_ markers: [Marker]) {
        for marker in markers {
            for half in [marker.text.prefix(12), marker.text.suffix(12)] {
                for (form, text) in Self.forms(of: Array(half.utf8)) {
                    needles.append(Needle(bytes: Array(text.utf8), what: "\(marker.name), \(form)"))
                }
            }
        }
    }

    /// Returns the markers found in `bytes`.
    func found(in bytes: [UInt8]) -> [String] {
        let data = Data(bytes)
        return needles.filter { data.range(of: Data($0.bytes)) != nil }.map(\.what)
    }

    private static func forms(of bytes: [UInt8]) -> [(String, String)] {
        let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        var forms = [
            ("in clear", String(decoding: bytes, as: UTF8.self)),
            ("reversed", String(decoding: bytes.reversed(), as: UTF8.self)),
            ("hexadecimal", digits), ("hexadecimal", digits.uppercased()),
        ]
        for shift in 0..<3 {
            // Characters that also depend on neighboring bytes are left out.
            let padded = Data([UInt8](repeating: 0, count: shift) + bytes)
            let whole = (shift + bytes.count) * 8 / 6
            let skipped = [0, 2, 3][shift]
            let text = String(padded.base64EncodedString().prefix(whole).dropFirst(skipped))
            forms.append(("base64 from byte \(shift)", text))
            let forURLs = text.replacing("+", with: "-").replacing("/", with: "_")
            if forURLs != text { forms.append(("base64url from byte \(shift)", forURLs)) }
        }
        return forms
    }
}

/// Checks the arguments and environment of every process that a test started, repeatedly.
final class ProcessWatch: @unchecked Sendable {
    private let lock = NSLock()
    private var isStopped = false
    private var leaks: Set<String> = []
    private let ended = DispatchSemaphore(value: 0)

    init(arguments: Needles, environment: Needles) {
        Thread.detachNewThread { [self] in
            var (seen, tree) = ([String: [UInt8]](), ProcessTree())
            while !lock.withLock({ isStopped }) {
                let found = Self.leaks(
                    arguments: arguments, environment: environment, besides: &seen, in: &tree)
                lock.withLock { leaks.formUnion(found) }
                usleep(3_000)
            }
            ended.signal()
        }
    }

    /// Waits until `count` were found; generous, for a busy machine.
    func awaitFinding(_ count: Int) {
        for _ in 0..<6_000 where lock.withLock({ leaks.count }) < count { usleep(5_000) }
    }

    /// Stops the search and returns what was found.
    func stop() -> Set<String> {
        lock.withLock { isStopped = true }
        ended.wait()
        return lock.withLock { leaks }
    }

    /// Searches the current processes that descend from this one.
    static func leaks(arguments: Needles, environment: Needles) -> Set<String> {
        var (seen, tree) = ([String: [UInt8]](), ProcessTree())
        return leaks(arguments: arguments, environment: environment, besides: &seen, in: &tree)
    }

    /// Searches the current processes that were not searched before.
    private static func leaks(
        arguments: Needles, environment: Needles, besides seen: inout [String: [UInt8]],
        in tree: inout ProcessTree
    ) -> Set<String> {
        var leaks: Set<String> = []
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let processes = names.compactMap { Int32($0) }
        tree.keep(Set(processes))
        for name in processes where tree.contains(name) {
            for (file, needles) in [("cmdline", arguments), ("environ", environment)] {
                // The process may have ended, or belong to another user.
                let path = "/proc/\(name)/\(file)"
                let bytes = SmallFile.bytes(path)
                guard seen[path] != bytes else { continue }
                seen[path] = bytes
                let found = needles.found(in: bytes)
                leaks.formUnion(found.map { "\(file): \($0)" })
            }
        }
        return leaks
    }
}

/// Tracks which processes descend from this one: those of other tests are many and not searched.
private struct ProcessTree {
    /// What is known about the current processes.
    private var known: [Int32: Bool] = [:]

    /// Forgets ended processes, since their ids are reused.
    mutating func keep(_ processes: Set<Int32>) {
        known = known.filter { processes.contains($0.key) }
    }

    /// Returns whether a process descends from this one. One whose parent has exited may.
    mutating func contains(_ process: Int32) -> Bool {
        if let answer = known[process] { return answer }
        guard process > 1, process != getpid() else { return false }
        let stat = String(decoding: SmallFile.bytes("/proc/\(process)/stat"), as: UTF8.self)
        // The name is in parentheses and may contain some; then follow the state and the parent.
        let rest = stat.suffix(from: stat.lastIndex(of: ")") ?? stat.endIndex)
        let fields = rest.split(separator: " ")
        guard fields.count > 2, let parent = Int32(fields[2]) else { return false }
        let answer = parent <= 1 || parent == getpid() || contains(parent)
        known[process] = answer
        return answer
    }
}

/// Files in /proc, whose size is not known in advance.
enum SmallFile {
    /// Returns all bytes; none if it cannot be read.
    static func bytes(_ path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }
}
