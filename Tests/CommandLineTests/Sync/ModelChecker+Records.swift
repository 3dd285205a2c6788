import EnvOperations
internal import JSON
import Sandbox
import TestSupport
import Vault

/// Which records a command may change, and which it must not confuse.
extension ModelChecker {
    // MARK: In the vault

    /// A pull without `--force` leaves unpushed changes of the vault alone.
    mutating func checkUnsent(of run: ModelRun) {
        guard run.command.name == "pull", !run.command.has("--force") else { return }
        for old in run.before.records {
            let variable = old.variable
            // The note of a removal from production ends if the vault has that name there again.
            if variable.isTrace { continue }
            guard let new = run.after.record(like: old) else {
                problem("pull took \(old.name) out of the vault")
                continue
            }
            let hasOwnValue =
                variable.currentVersion > 0
                && variable.currentVersion != variable.remote?.pushedVersion
            if variable.isLive, hasOwnValue, new.value != old.value {
                problem("pull replaced the unsent value of \(old.name)")
            }
            let isMoved =
                variable.remote.map {
                    $0.key != variable.name || $0.agreed.scope != variable.attributes.scope
                        || $0.agreed.kind != variable.attributes.kind
                } ?? true
            let isRemoved = !variable.isLive && variable.remote?.isGone == false
            guard isRemoved || variable.isLive && (hasOwnValue || isMoved),
                variable.currentVersion > 0
            else { continue }
            if new.variable.isLive != variable.isLive || new.variable.name != variable.name
                || new.variable.attributes.scope != variable.attributes.scope
                || new.variable.attributes.kind != variable.attributes.kind
            {
                problem("pull undid the unsent change of \(old.name)")
            }
        }
    }

    // MARK: On Vercel

    /// A successful push without `--force` leaves each variable its record: one that was removed
    /// and recreated is another record, unless it has a value that the vault knew.
    mutating func checkIdentity(of run: ModelRun, _ attempts: [Attempt]) {
        let command = run.command
        guard run.status == 0, command.name == "push" || command.has("--push"),
            !command.has("--force")
        else { return }
        for new in run.after.records where new.variable.isLive {
            guard let old = run.before.record(like: new)?.variable, old.isLive,
                old.name == new.variable.name, let known = old.remote, known.key == old.name,
                let remote = new.variable.remote, remote.id != known.id,
                // A creation without an answer may have made it.
                !attempts.contains(where: { $0.names.contains(old.name) })
            else { continue }
            let there = run.storedBefore.first { $0.id == remote.id }
            if let there, there.isShown, run.before.values.contains(there.value) { continue }
            problem("it ended with 0, and takes another record for that of \(new.name)")
        }
    }

    /// A change by key and scope names each record exactly, and changes no type except to
    /// sensitive.
    mutating func checkUpserts(of run: ModelRun) {
        for place in run.moments.indices
        where run.moments[place].isChange && run.moments[place].request.method == "POST" {
            guard let listing = run.listing(before: place) else { continue }
            let body = run.moments[place].request.body
            for item in body?.array ?? [body].compactMap({ $0 }) {
                let key = item["key"]?.string ?? ""
                let targets = Set((item["target"]?.array ?? []).compactMap(\.string))
                let type = item["type"]?.string
                let meant = run.moments[listing].listed.filter {
                    $0.key == key && Set($0.targets) == targets && $0.gitBranch == nil
                        && (type == "sensitive" || type == $0.kind)
                }
                guard meant.count != 1 else { continue }
                let place = "\(targets.sorted()), \(type ?? "")"
                problem("it changes \(key) (\(place)) by its key, and none is that")
            }
        }
    }

    /// The record of a variable in use is deleted only if a record with its name remains.
    mutating func checkSuccessors(of run: ModelRun) {
        for place in run.moments.indices where run.moments[place].isWrite {
            let moment = run.moments[place]
            guard moment.request.method == "DELETE", let listing = run.listing(before: place) else {
                continue
            }
            for gone in moment.asked where !moment.served.contains(where: { $0.id == gone.id }) {
                guard let record = run.before.record(of: gone.id), record.value != nil,
                    record.variable.isLive, run.after.record(like: record)?.variable.isLive == true,
                    !run.moments[listing].listed.contains(where: {
                        $0.key == record.variable.name
                    })
                else { continue }
                problem("it deleted \(gone.key), and \(record.name) is not there")
            }
        }
    }

    // MARK: Own writes

    /// A change that was in progress when a command of this machine was killed is sent again
    /// without a conflict if the record changed in that time, by nobody else, and as requested.
    mutating func checkOwnWrite(of run: ModelRun, _ begun: Begun?) {
        guard let begun, run.status == 5, ["push", "harden"].contains(run.command.name),
            !run.moments.contains(where: \.isWrite), let plan = run.firstListing,
            let last = run.lastListing, let report = run.report
        else { return }
        let entries = (report["conflicts"]?.elements ?? []) + (report["left"]?.elements ?? [])
        for there in run.moments[plan].listed where there.isSecret {
            let targets = Set(there.targets)
            // What an integration has taken over since takes --force again.
            if there.integration != nil { continue }
            let isRefused = entries.contains {
                $0["key"]?.text == there.key && Set($0["targets"]?.texts ?? []) == targets
            }
            guard isRefused, let record = run.before.record(of: there.id), record.variable.isLive,
                record.value != nil, record.variable.name == there.key,
                record.variable.attributes.kind == .sensitive,
                Set(record.variable.attributes.scope.targets.names) == targets
            else { continue }
            let then = begun.vault.record(like: record)?.variable
            guard begun.attempt.times.contains(there.updatedAt),
                begun.listed[there.id] != there.updatedAt,
                begun.attempt.names.contains(there.id) || begun.attempt.names.contains(there.key),
                isOwn(there), then?.attributes == record.variable.attributes,
                then?.currentVersion == record.variable.currentVersion,
                run.moments[last].listed.contains(there)
            else { continue }
            problem("\(record.name) was begun here and touched by nobody else, and is a conflict")
        }
    }
}
