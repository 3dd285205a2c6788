internal import CLinux
internal import Glibc
internal import SystemFiles

/// A child program with all its descendants in this process's session, so that it can use the terminal
/// and all of it can be ended. A daemon, which creates its own session, does not belong to it.
struct DescendantProcesses {
    /// Child processes that existed before.
    private let others: Set<pid_t>

    /// Must be called before the program is started.
    init() {
        // Adopts processes whose parent ends first: there is no other way to find them.
        _ = zg_adopt_orphans(1)
        others = Set(Self.processes().filter { $0.parent == getpid() }.map(\.identifier))
    }

    /// Ends the program and its descendants: first with SIGTERM, then with SIGKILL.
    func end(_ program: ChildProcess) {
        for member in members(of: program) { kill(member, SIGTERM) }
        program.terminate()
        // Processes started meanwhile are found in the next round.
        for _ in 0..<200 {
            let left = members(of: program)
            if left.isEmpty { break }
            for member in left { kill(member, SIGKILL) }
            usleep(10_000)
        }
    }

    /// Stops adopting orphans; the program's remaining processes go on.
    func leave() { _ = zg_adopt_orphans(0) }

    /// Returns the running processes of the family.
    private func members(of program: ChildProcess) -> [pid_t] {
        let processes = Self.processes()
        let children = Dictionary(grouping: processes, by: \.parent)
        var found: [pid_t] = []
        var open = children[getpid()]?.filter { !others.contains($0.identifier) } ?? []
        while let process = open.popLast() {
            open += children[process.identifier] ?? []
            guard process.session == getsid(0) else { continue }
            if process.hasEnded {
                // Nobody else waits for adopted processes.
                if process.identifier != program.identifier {
                    waitpid(process.identifier, nil, WNOHANG)
                }
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

    /// Returns all visible processes.
    private static func processes() -> [Process] {
        var processes: [Process] = []
        for name in Directory.names(in: "/proc") {
            guard let identifier = pid_t(name), let text = SmallFile.bytes("/proc/\(name)/stat"),
                // The program's name, in parentheses, may contain anything.
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
