internal import CLinux
internal import Glibc
internal import SystemFiles

/// A program that was started here and stays in this process's session, with all that it starts: so that it
/// may use the terminal, and nothing of it is left when its time is over. What gives itself a session of its
/// own, as a daemon does, has left the family.
struct ProcessFamily {
    /// Programs of this process before it was started.
    private let others: Set<pid_t>

    /// Begins before the program is started.
    init() {
        // Those whose parent ends first are found no other way.
        _ = zg_adopt_orphans(1)
        others = Set(Self.processes().filter { $0.parent == getpid() }.map(\.identifier))
    }

    /// Ends the program, gently at first, and all that it has started.
    func end(_ program: ChildProcess) {
        for member in members() { kill(member, SIGTERM) }
        program.abandon()
        // What is started meanwhile is found in the next turn.
        for _ in 0..<200 {
            let left = members()
            if left.isEmpty { break }
            for member in left { kill(member, SIGKILL) }
            usleep(10_000)
        }
    }

    /// Lets go of what the program has left behind.
    func leave() { _ = zg_adopt_orphans(0) }

    /// All of it that goes on.
    private func members() -> [pid_t] {
        let processes = Self.processes()
        let children = Dictionary(grouping: processes, by: \.parent)
        var found: [pid_t] = []
        var open = children[getpid()]?.filter { !others.contains($0.identifier) } ?? []
        while let process = open.popLast() {
            open += children[process.identifier] ?? []
            guard process.session == getsid(0) else { continue }
            if process.hasEnded {
                // What was adopted is waited for by nobody else.
                waitpid(process.identifier, nil, WNOHANG)
            } else {
                found.append(process.identifier)
            }
        }
        return found
    }

    private struct Process {
        let identifier: pid_t
        let parent: pid_t
        let session: pid_t
        let hasEnded: Bool
    }

    /// All processes that this one may see.
    private static func processes() -> [Process] {
        var processes: [Process] = []
        for name in Directory.names(in: "/proc") {
            guard let identifier = pid_t(name), let text = SmallFile.bytes("/proc/\(name)/stat"),
                // The name of the program, in parentheses, may hold anything.
                let end = text.lastIndex(of: UInt8(ascii: ")"))
            else { continue }
            let words = text[(end + 1)...].split(separator: UInt8(ascii: " ")).prefix(4).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard words.count == 4, let parent = pid_t(words[1]), let session = pid_t(words[3])
            else { continue }
            processes.append(
                Process(
                    identifier: identifier, parent: parent, session: session,
                    hasEnded: ["Z", "X"].contains(words[0])))
        }
        return processes
    }
}
