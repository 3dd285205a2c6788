import Glibc
import Sandbox
import Threads

/// Watches every request of a command, and kills the program at the selected one.
final class ModelTraffic: Sendable {
    private struct State {
        var kill: ModelCommand.Kill?
        var process: Int32?
        /// Whether the program has ended.
        var isOver = false
        var arrived = 0
        var writes = 0
        var underWay = 0
        var hasKilled = false
        /// The thread whose request was served and must not be answered.
        var unheard: pthread_t?
        var moments: [RequestObserver.Moment] = []
        /// The method and path of the request that was killed before it was served.
        var lost: (method: String, path: String)?
        var interludeAt: ContinuousClock.Instant?
    }

    /// What was seen of a command.
    struct Seen {
        /// Its served requests.
        var moments: [RequestObserver.Moment] = []
        /// Whether it was killed here.
        var isKilled = true
        /// The method and path of the request that was killed before it was served.
        var lost: (method: String, path: String)?
        /// The times when somebody acted during its question.
        var interludeAt: ContinuousClock.Instant?
    }

    private let state = Monitor(State())

    /// The hook for a server's requests.
    var onlooker: RequestObserver {
        RequestObserver(
            arrives: { method, path in self.arrives(method, path) },
            leaves: { self.leaves($0) })
    }

    /// A command begins.
    func begin(_ kill: ModelCommand.Kill?) {
        state.change { state in
            state = State()
            state.kill = kill
        }
    }

    /// The program has started.
    func started(_ process: Int32) {
        state.change { $0.process = process }
    }

    /// Somebody has acted during the program's question.
    func interlude() {
        state.change { $0.interludeAt = .now }
    }

    /// Returns what was seen once the program has ended and no request is in progress.
    func finish() -> Seen {
        state.change { state in
            state.isOver = true
            // Other programs' requests must not kill anything.
            state.kill = nil
        }
        return state.wait(milliseconds: 30_000) { state in
            guard state.underWay == 0 else { return nil }
            return Seen(
                moments: state.moments.sorted { $0.number < $1.number },
                isKilled: state.hasKilled, lost: state.lost, interludeAt: state.interludeAt)
        } ?? Seen()
    }

    private func arrives(_ method: String, _ path: String) -> Bool {
        let fate = state.change { state -> ModelCommand.Kill.EntryAction? in
            state.underWay += 1
            state.arrived += 1
            if method != "GET" { state.writes += 1 }
            guard let kill = state.kill, !state.hasKilled, !kill.countsWrites || method != "GET",
                (kill.countsWrites ? state.writes : state.arrived) == kill.request
            else { return nil }
            state.hasKilled = true
            if kill.fate == .unheard { state.unheard = pthread_self() }
            return kill.fate
        }
        guard let fate, fate != .unheard else { return true }
        end()
        guard fate == .lost else { return true }
        state.change { state in
            state.underWay -= 1
            state.lost = (method, path)
        }
        return false
    }

    private func leaves(_ moment: RequestObserver.Moment) {
        let isUnheard = state.change { state in
            state.moments.append(moment)
            let isUnheard = state.unheard == pthread_self()
            if isUnheard { state.unheard = nil }
            return isUnheard
        }
        if isUnheard { end() }
        state.change { $0.underWay -= 1 }
    }

    /// Kills the program and waits for its death.
    private func end() {
        guard let process = state.wait(milliseconds: 20_000, { $0.process }) else { return }
        kill(process, SIGKILL)
        _ = state.wait(milliseconds: 20_000) { $0.isOver ? true : nil }
    }
}
