import EnvOperations
internal import JSON
import Sandbox
import TestSupport
import Vault

/// What commands do about variables that Vercel hides, keeps secret, or leaves to integrations.
extension ModelChecker {
    // MARK: Hidden production

    /// While a part of production is hidden, nothing is written to it, and nothing counts as removed.
    mutating func checkHidden(of run: ModelRun) {
        let heard = run.moments.indices.filter { run.moments[$0].isListing && run.isHeard($0) }
        guard heard.contains(where: { !run.moments[$0].isComplete }) else { return }
        count("blind \(run.command.name) \(run.end)")
        for place in run.moments.indices where run.moments[place].isWrite {
            guard let listing = run.listing(before: place), !run.moments[listing].isComplete,
                run.moments[place].touchesProduction
            else { continue }
            let request = run.moments[place].request
            problem(
                "\(request.method) \(request.path) is for production, a part of which is hidden")
        }
        checkRemovals(of: run, heard)
        checkRefusal(of: run, heard)
    }

    /// Only a complete list, or a deletion by the same command, shows that a record is gone.
    private mutating func checkRemovals(of run: ModelRun, _ heard: [Int]) {
        let complete = heard.filter { run.moments[$0].isComplete }
        if complete.isEmpty, run.words.contains("removed on Vercel") {
            problem("it calls something removed: \(run.words)")
        }
        let reads = ["pull", "push", "list", "harden", "rotate"].contains(run.command.name)
        for old in run.before.records {
            guard let remote = old.variable.remote, !remote.isGone else { continue }
            let new = run.after.record(like: old)?.variable
            let isDropped = new.map { reads && old.variable.isLive && !$0.isLive } ?? true
            guard isDropped || new?.remote?.isGone == true else { continue }
            let isKnown =
                complete.contains { place in
                    !run.moments[place].asked.contains { $0.id == remote.id }
                }
                || run.moments.contains { moment in
                    moment.isWrite && moment.asked.contains { $0.id == remote.id }
                        && !moment.served.contains { $0.id == remote.id }
                }
            if !isKnown { problem("\(old.name) counts as removed, and may be hidden") }
        }
    }

    /// A push is refused only if there is something to send.
    private mutating func checkRefusal(of run: ModelRun, _ heard: [Int]) {
        guard run.isRefusedForHiding, run.command.name == "push" else { return }
        count("refused, hidden")
        let keys = Set(run.command.words.dropFirst().prefix { !$0.hasPrefix("-") })
        guard run.command.interlude == nil, run.moments.allSatisfy({ $0.fault == nil }),
            !run.command.has("--prune"), run.before.sends.isEmpty
        else { return }
        let isMeant = run.before.records.contains { record in
            let variable = record.variable
            guard keys.isEmpty || keys.contains(variable.name) else { return false }
            return variable.isLive
                ? [.local, .ahead, .diverged].contains(record.sync)
                : variable.remote?.isGone == false
        }
        // With --force it may be what only Vercel changed.
        if !isMeant, !run.command.has("--force") {
            problem("push is refused, and there is nothing to send")
        }
    }

    /// Returns whether a command could not see a record, so that it says nothing about it.
    func isUnlisted(_ record: ModelMachine.Contents.Record, _ run: ModelRun) -> Bool {
        guard let remote = record.variable.remote, let listing = run.lastListing else {
            return false
        }
        let moment = run.moments[listing]
        return !moment.isComplete && !moment.listed.contains { $0.id == remote.id }
    }

    // MARK: Integrations

    /// Whether an integration manages a variable, so that a push leaves what it changed to it.
    func isManaged(_ record: ModelMachine.Contents.Record, _ run: ModelRun) -> Bool {
        guard run.command.name == "push", let id = record.variable.remote?.id,
            let listing = run.lastListing
        else { return false }
        return run.moments[listing].listed.contains { $0.id == id && $0.integration != nil }
    }

    /// What an integration manages changes only by `push --force`.
    mutating func checkManaged(of run: ModelRun) {
        if run.status == 5, run.words.contains("Rotate Secrets") { count("refused, managed") }
        guard !(run.command.name == "push" && run.command.has("--force")) else { return }
        for place in run.moments.indices where run.moments[place].isWrite {
            let moment = run.moments[place]
            guard let listing = run.listing(before: place) else { continue }
            for old in moment.asked where old.integration != nil && !moment.served.contains(old) {
                let isKnown = run.moments[listing].listed.contains {
                    $0.id == old.id && $0.integration != nil
                }
                guard isKnown, !isCondemned(old, on: run.command.machine) else { continue }
                problem(
                    "\(moment.request.method) changed \(old.key) (\(old.targets)), which an integration manages"
                )
            }
        }
    }

    // MARK: Secrets

    /// A value that Vercel does not show comes into a vault from nowhere else.
    mutating func checkSecrets(of run: ModelRun) {
        let new = run.after.values.subtracting(run.before.values)
            .filter { !(run.command.input ?? "").contains($0) }
        for there in run.storedBefore
        where !there.isShown && new.contains(there.value)
            && !run.storedBefore.contains(where: { $0.isShown && $0.value == there.value })
        {
            problem("the vault has the value of \(there.key), which Vercel does not show")
        }
        guard run.words.contains("The team requires a production Secret") else { return }
        count("refused, separated")
        if run.status == 0 { problem("it ended with 0, and the team's policy refused something") }
    }
}

extension ModelRun {
    /// Whether it ended because of what Vercel hides.
    var isRefusedForHiding: Bool { status == 6 && words.contains("Vercel hides") }
}

extension StoredVariable {
    /// The type by which it counts.
    var kind: String { isSecret ? "sensitive" : type }

    /// Whether Vercel shows its value.
    var isShown: Bool { !isSecret && (integration == nil || type == "plain") }
}

extension RequestObserver.Moment {
    /// What a listing says that there is.
    var listed: [StoredVariable] {
        hidesProduction ? asked.filter { !$0.targets.contains("production") } : asked
    }

    /// Whether a listing says everything that there is.
    var isComplete: Bool { !hidesProduction || listed.count == asked.count }

    /// Whether it changes production variables, or asks for that.
    fileprivate var touchesProduction: Bool {
        let items = request.body?.array ?? [request.body].compactMap { $0 }
        let isMeant = items.contains { item in
            item["target"]?.array?.contains { $0.string == "production" } ?? false
        }
        let (old, new) = (asked, served)
        let changed = old.filter { !new.contains($0) } + new.filter { !old.contains($0) }
        return isMeant || changed.contains { $0.targets.contains("production") }
    }
}
