import Glibc
import Sandbox
import Threads

/// Sees every request of a command come and go, and kills the program at the one that was chosen.
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
        /// The thread whose request was served and is not to be answered.
        var unheard: pthread_t?
        var moments: [Onlooker.Moment] = []
        /// The method and path of the request that was killed before it was served.
        var lost: (method: String, path: String)?
        var interludeAt: ContinuousClock.Instant?
    }

    /// What was seen of a command.
    struct Seen {
        /// Its requests that were served.
        var moments: [Onlooker.Moment] = []
        /// Whether it was killed here.
        var isKilled = true
        /// The method and path of the request that was killed before it was served.
        var lost: (method: String, path: String)?
        /// When somebody did something while it asked.
        var interludeAt: ContinuousClock.Instant?
    }

    private let state = Monitor(State())

    /// What a server shows to this.
    var onlooker: Onlooker {
        Onlooker(
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

    /// Somebody has done something while the program asks.
    func interlude() {
        state.change { $0.interludeAt = .now }
    }

    /// The program has ended; returns what was seen of it once no request is under way.
    func finish() -> Seen {
        state.change { state in
            state.isOver = true
            // Nobody is to be killed by the requests of others.
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
        let fate = state.change { state -> ModelCommand.Kill.Fate? in
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

    private func leaves(_ moment: Onlooker.Moment) {
        let isUnheard = state.change { state in
            state.moments.append(moment)
            let isUnheard = state.unheard == pthread_self()
            if isUnheard { state.unheard = nil }
            return isUnheard
        }
        if isUnheard { end() }
        state.change { $0.underWay -= 1 }
    }

    /// Kills the program, and waits for its death.
    private func end() {
        guard let process = state.wait(milliseconds: 20_000, { $0.process }) else { return }
        kill(process, SIGKILL)
        _ = state.wait(milliseconds: 20_000) { $0.isOver ? true : nil }
    }
}
