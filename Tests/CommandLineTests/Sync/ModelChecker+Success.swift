import EnvOperations
import Sandbox
import TestSupport
import Vault

/// The meaning of exit 0, by command. Synced variables have been compared with Vercel already.
extension ModelChecker {
    /// Checks a command's end against the vault and Vercel.
    mutating func checkSuccess(of run: ModelRun) {
        checkReport(of: run)
        checkRotation(of: run)
        guard run.status == 0, !run.command.has("--dry-run") else { return }
        switch run.command.name {
        case "push": checkPush(run)
        case "set", "rm", "import": if run.command.has("--push") { checkChanged(run) }
        case "harden": checkHardening(run)
        case "pull": checkPull(run)
        default: break
        }
    }

    /// A result in a report is true, whatever the exit code.
    private mutating func checkReport(of run: ModelRun) {
        guard run.command.name == "push", let report = run.report, run.status != nil else { return }
        for list in ["created", "updated"] {
            for entry in report[list]?.elements ?? [] {
                let (key, targets) = (entry["key"]?.text ?? "", entry["targets"]?.texts ?? [])
                // A record without one in the vault only made room.
                let record = run.after.records.first {
                    $0.variable.isLive && $0.variable.name == key
                        && $0.variable.attributes.scope.targets.names == targets
                }
                guard let record, ![.synced, .unreadable].contains(record.sync) else { continue }
                // A value that Vercel has not shown yet is still to be pulled.
                if record.value == nil, record.sync == .behind { continue }
                problem("\(list) has \(key) (\(targets)), which is \(record.sync)")
            }
        }
        checkFailed(of: run, report)
    }

    /// What an answer does not name is reported as failed only if it is not on Vercel.
    private mutating func checkFailed(of run: ModelRun, _ report: JSONDocument) {
        guard let last = run.moments.lastIndex(where: \.isWrite), let listing = run.lastListing,
            listing > last, run.moments.allSatisfy(\.isAnswered),
            // A refusal names what it is about, whatever a hidden record has.
            !run.words.contains("The team requires a production Secret"),
            run.moments.allSatisfy({
                $0.fault == nil || $0.isWrite && $0.fault?.contains(" silent-batch") ?? false
            })
        else { return }
        for entry in report["failed"]?.elements ?? [] {
            let (key, targets) = (entry["key"]?.text ?? "", Set(entry["targets"]?.texts ?? []))
            let record = run.after.records.first {
                $0.variable.isLive && $0.variable.name == key && $0.value != nil
                    && Set($0.variable.attributes.scope.targets.names) == targets
            }
            guard let record,
                run.moments[listing].listed.contains(where: {
                    $0.key == key && Set($0.targets) == targets && $0.value == record.value
                        && $0.kind == record.variable.attributes.kind.name
                })
            else { continue }
            problem("failed has \(record.name), which is there")
        }
    }

    private mutating func checkPush(_ run: ModelRun) {
        let keys = Set(run.command.words.dropFirst().prefix { !$0.hasPrefix("-") })
        for record in run.after.records where keys.isEmpty || keys.contains(record.variable.name) {
            expectDone(record, run)
            expectGone(record, run)
        }
        guard run.command.has("--prune"), let plan = run.firstListing,
            let listing = run.lastListing
        else { return }
        // The plan does not name what was created since.
        let planned = Set(run.moments[plan].listed.map(\.id))
        for left in run.moments[listing].listed
        where planned.contains(left.id) && (keys.isEmpty || keys.contains(left.key))
            && run.after.record(of: left.id) == nil
        {
            problem("push --prune ended with 0, and \(left.key) (\(left.targets)) is there")
        }
    }

    private mutating func checkChanged(_ run: ModelRun) {
        for record in run.after.records {
            let old = run.before.record(like: record)?.variable
            let new = record.variable
            guard
                old?.currentVersion != new.currentVersion || old?.attributes != new.attributes
                    || old?.isLive != new.isLive
            else { continue }
            if let old, old.isLive, new.isLive, old.currentVersion == new.currentVersion {
                // It only made room for another one; an unpushed variable is not pushed for that.
                guard let remote = new.remote, remote.agreed.scope != new.attributes.scope,
                    let listing = run.lastListing,
                    run.moments[listing].listed.contains(where: { $0.id == remote.id })
                else { continue }
                problem("it ended with 0, and \(record.name) is for other targets there")
                continue
            }
            expectDone(record, run)
            expectGone(record, run)
        }
        guard Self.followsAdvice, run.command.name == "rm", let listing = run.lastListing,
            run.command.words.count > 1
        else { return }
        let targets = Set(
            (run.command.argument(of: "-t") ?? "").split(separator: ",").map(String.init))
        for left in run.moments[listing].listed
        where left.key == run.command.words[1]
            && (targets.isEmpty || !targets.isDisjoint(with: left.targets))
        {
            problem("rm --push ended with 0, and \(left.key) (\(left.targets)) is there")
        }
    }

    /// A variable removed from the vault is not on Vercel either.
    private mutating func expectGone(_ record: ModelMachine.Contents.Record, _ run: ModelRun) {
        let old = run.before.record(like: record)?.variable.remote
        guard !record.variable.isLive, let id = old?.id, let listing = run.lastListing,
            run.moments[listing].listed.contains(where: { $0.id == id })
        else { return }
        problem("it ended with 0, and the removed \(record.name) is there")
    }

    mutating func expectDone(_ record: ModelMachine.Contents.Record, _ run: ModelRun) {
        let variable = record.variable
        if variable.isLive {
            // Without a value the vault claims nothing about it.
            guard variable.currentVersion > 0, record.sync != .synced else { return }
            if isUnlisted(record, run) || isManaged(record, run), record.sync == .behind { return }
            problem("it ended with 0, and \(record.name) is \(record.sync)")
        } else if let remote = variable.remote, !remote.isGone {
            problem("it ended with 0, and the removed \(record.name) is not known to be gone")
        }
    }

    private mutating func checkHardening(_ run: ModelRun) {
        guard let listing = run.lastListing else { return }
        for entry in run.report?["hardened"]?.elements ?? [] {
            let (key, targets) = (entry["key"]?.text ?? "", entry["targets"]?.texts ?? [])
            let there = run.moments[listing].listed.first {
                $0.key == key && Set($0.targets) == Set(targets)
            }
            guard let there, there.isSecret else {
                problem(
                    "harden ended with 0, and \(key) (\(targets)) is \(there?.kind ?? "not there")")
                continue
            }
            guard let record = run.after.record(of: there.id), record.value != nil else {
                problem("harden ended with 0, and the vault has no value of \(key)")
                continue
            }
            expectDone(record, run)
        }
    }

    /// The vault equals Vercel, except for its own changes.
    private mutating func checkPull(_ run: ModelRun) {
        guard let listing = run.lastListing,
            run.command.words.dropFirst().first?.hasPrefix("-") ?? true
        else { return }
        // docs/sync.md: a pull ignores what a push is still to delete.
        let deletions = run.after.sends.filter { $0.action == .delete }.compactMap(\.target)
        for there in run.moments[listing].listed where there.type != "system" {
            let isIgnored = deletions.contains {
                $0.id == there.id && $0.updatedAt == UInt64(there.updatedAt)
            }
            if isIgnored { continue }
            let here = run.after.record(of: there.id)
            // A recreated record with a hidden value is reported as such, and one whose only
            // environment was dropped as skipped.
            let isNamed =
                run.report?[there.targets.isEmpty ? "skipped" : "unreadable"]?.elements.contains {
                    $0["key"]?.text == there.key
                        && Set($0["targets"]?.texts ?? []) == Set(there.targets)
                } ?? false
            if here == nil, !isNamed {
                problem("pull ended with 0, and left out \(there.key) (\(there.targets))")
            }
        }
        guard run.moments[listing].isComplete else { return }
        let ids = Set(run.moments[listing].listed.map(\.id))
        for record in run.after.records where record.sync == .synced {
            guard let remote = record.variable.remote, record.variable.isLive,
                !ids.contains(remote.id)
            else { continue }
            problem("pull ended with 0, and \(record.name) is still there")
        }
    }
}
