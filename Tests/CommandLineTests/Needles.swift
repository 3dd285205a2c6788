import Foundation

/// A secret text of a test, and everything it could be found as.
struct Marker {
    /// 24 random letters and digits, so that JSON, shells and URLs write it as it is.
    let text: String
    let name: String

    /// Names a text that is known already.
    init(name: String, text: String) {
        (self.name, self.text) = (name, text)
    }

    init(_ name: String) {
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
        let digits = Array("23456789")
        self.name = name
        // Digits in it, since a word of letters alone may be repeated as a command nobody knows.
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

    /// What of the markers is in `bytes`.
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
            // Characters that bytes before or after have a part in say nothing.
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

/// Looks at the arguments and the environment of every process that a test started, again and again.
final class ProcessWatch: @unchecked Sendable {
    private let lock = NSLock()
    private var isStopped = false
    private var leaks: Set<String> = []
    private let ended = DispatchSemaphore(value: 0)

    /// Starts looking.
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

    /// Waits until so much was found, as long as a busy machine may take.
    func awaitFinding(_ count: Int) {
        for _ in 0..<6_000 where lock.withLock({ leaks.count }) < count { usleep(5_000) }
    }

    /// Stops looking. Returns what was found.
    func stop() -> Set<String> {
        lock.withLock { isStopped = true }
        ended.wait()
        return lock.withLock { leaks }
    }

    /// What the processes of now that came from this one show.
    static func leaks(arguments: Needles, environment: Needles) -> Set<String> {
        var (seen, tree) = ([String: [UInt8]](), ProcessTree())
        return leaks(arguments: arguments, environment: environment, besides: &seen, in: &tree)
    }

    /// What the processes of now show that was not looked at before.
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
                // The process may have ended, or belong to somebody else.
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

/// Which processes came from this one. Those of other tests are many, and are not searched.
private struct ProcessTree {
    /// What is known of the processes that there are.
    private var known: [Int32: Bool] = [:]

    /// Forgets those that ended, since their numbers are used again.
    mutating func keep(_ processes: Set<Int32>) {
        known = known.filter { processes.contains($0.key) }
    }

    /// Tells whether a process came from this one. One whose parent is gone may have.
    mutating func contains(_ process: Int32) -> Bool {
        if let answer = known[process] { return answer }
        guard process > 1, process != getpid() else { return false }
        let stat = String(decoding: SmallFile.bytes("/proc/\(process)/stat"), as: UTF8.self)
        // The name stands in parentheses and may have some; then the state, and the parent.
        let rest = stat.suffix(from: stat.lastIndex(of: ")") ?? stat.endIndex)
        let fields = rest.split(separator: " ")
        guard fields.count > 2, let parent = Int32(fields[2]) else { return false }
        let answer = parent <= 1 || parent == getpid() || contains(parent)
        known[process] = answer
        return answer
    }
}

/// Files of the kernel, whose size nobody knows before.
enum SmallFile {
    /// All bytes; none where it cannot be read.
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
