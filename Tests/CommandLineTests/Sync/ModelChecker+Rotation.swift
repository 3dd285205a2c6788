import EnvOperations
import Sandbox
import TestSupport
import Vault

/// What the end of a rotation reports.
extension ModelChecker {
    /// Checks a rotation's end against the vault, Vercel, and the live deployment.
    mutating func checkRotation(of run: ModelRun) {
        let command = run.command
        guard command.name == "rotate", command.words.count > 1 else { return }
        let named = command.words[1].hasPrefix("-") ? nil : command.words[1]
        if let new = command.input, let named {
            rotations[command.machine, default: []].append((named, new))
        }
        let known = rotations[command.machine] ?? []
        guard let (key, new) = known.last(where: { named == nil || $0.key == named }),
            let status = run.status
        else { return }
        if run.hasRevoked { checkRevoking(of: key, new, run) }
        // Somebody was first, and nothing kept the rotation from seeing it.
        if [10, 11].contains(status), command.input != nil, run.moments.allSatisfy(\.isAnswered),
            !run.moments.contains(where: { $0.isWrite || $0.request.method == "POST" })
        {
            problem("the rotation of \(key) ended with \(status), and nothing was sent")
        }
        switch (status, command.words[1]) {
        case (0, "--close"), (0, "--status"): break
        case (0, "--abort"), (10, _): expectOld(key, new, run)
        case (0, _): expectNew(key, new, run)
        case (2, _), (3, _), (4, _), (5, _):
            guard command.input != nil else { break }
            if run.storedAfter.contains(where: { $0.value == new }) {
                problem("rotate ended with \(status), and Vercel has the new value of \(key)")
            }
        default: break
        }
    }

    /// The old value is not revoked if Vercel was seen with a value other than the new one.
    private mutating func checkRevoking(of key: String, _ new: String, _ run: ModelRun) {
        let built = run.moments.indices.last { run.moments[$0].asksForDeployment } ?? 0
        for record in run.storedAfter
        where record.key == key && record.value != new && run.beginning(of: record) < 4 * built
            && run.storedBefore.contains(where: { $0.id == record.id })
            && !run.storedBefore.contains(record)
        {
            problem("the old value of \(key) was ended, and Vercel has \(record.value)")
        }
    }

    private mutating func expectNew(_ key: String, _ new: String, _ run: ModelRun) {
        let records = run.after.records.filter {
            $0.variable.isLive && $0.variable.name == key && $0.variable.currentVersion > 0
        }
        // One that was set again since proves nothing about the rotation.
        guard records.contains(where: { $0.value == new }) else {
            guard run.command.input != nil else { return }
            return problem("rotate ended with 0, and the vault has not the new value of \(key)")
        }
        // Others may have changed what was pushed before a kill, and it still counts as rotated.
        for record in records where record.value == new && run.command.input != nil {
            if isTouchedSince(record, run) {
                count("touched after the rotation")
                continue
            }
            expectDone(record, run)
        }
        guard run.command.has("--redeploy"),
            records.contains(where: {
                $0.value == new && $0.variable.attributes.scope.targets.contains(.production)
                    && $0.variable.attributes.kind != .sensitive
            }), run.built?[key] != new, !run.claimsCheckAlone
        else { return }
        problem(
            "rotate ended with 0, and production was built with \(run.built?[key] ?? "nothing")")
    }

    /// Returns whether Vercel shows the value of a record that somebody saved again, at most with
    /// another comment, after the rotation's push: the rotation is done, and that is still to be
    /// pulled.
    private func isTouchedSince(_ record: ModelMachine.Contents.Record, _ run: ModelRun) -> Bool {
        guard record.sync == .behind, let remote = record.variable.remote,
            let there = run.lastListing.flatMap({ place in
                run.moments[place].listed.first { $0.id == remote.id }
            })
        else { return false }
        let agreed = remote.agreed
        return there.isShown && there.value == record.value
            && there.kind == agreed.kind.name && there.key == remote.key
            && Set(there.targets) == Set(agreed.scope.targets.names)
            && UInt64(there.updatedAt) > remote.agreedUpdatedAt
    }

    private mutating func expectOld(_ key: String, _ new: String, _ run: ModelRun) {
        if run.after.records.contains(where: {
            $0.variable.isLive && $0.value == new && $0.variable.name == key
        }) {
            problem("rotate went back, and the vault still has the new value of \(key)")
        }
        guard let listing = run.lastListing else { return }
        for there in run.moments[listing].listed where there.value == new {
            // Another user saved a value that is not shown, and nothing else: it counts as another
            // value.
            let record = run.after.record(of: there.id)?.variable
            let isHidden =
                !there.isShown
                || run.moments.contains { $0.fault?.contains("hides-values") ?? false }
            let isTouched =
                isHidden && !isOwn(there) && there.key == record?.name
                && Set(there.targets) == Set(record?.attributes.scope.targets.names ?? [])
                && (there.comment ?? "") == (record?.attributes.comment ?? "")
            if isTouched {
                count("touched, taken for another value")
                continue
            }
            problem("rotate went back, and Vercel still has the new value of \(key)")
        }
    }
}

extension ModelRun {
    /// Whether Vercel refused to show what a deployment was built with, and the report accordingly
    /// names a passed check as its only proof (docs/rotation.md, "Proofs").
    fileprivate var claimsCheckAlone: Bool {
        moments.contains { $0.request.path.contains("/env/pull/") && $0.request.status != 200 }
            && report?["projects"]?.elements.contains { $0["proof"] == "check" } == true
    }
}
