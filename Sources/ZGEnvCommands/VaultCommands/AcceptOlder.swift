internal import CommandLineKit
internal import JSON
internal import Vault

/// `verify --accept-older`: makes a copy that is not the newest one that was seen the newest one.
enum AcceptOlder {
    static func run(in workspace: Workspace) throws -> CommandResult {
        let (session, context) = (workspace.session, workspace.context)
        let keys = try session.keys(.values, asking: .always)
        let vault = try session.opened()
        try vault.verify(with: keys)
        let report = try AnchorReport(session, with: keys)
        var against = report.against
        var witnesses = report.witnesses
        if let seen = UnlockedState.position(of: vault, now: context.now() / 1_000),
            try !vault.standing(to: seen, with: keys).isAccepted
        {
            against.append(seen)
            witnesses.append("the unlock cache (generation \(seen.generation))")
        }
        func result(_ generation: UInt64?, text: String = "") -> CommandResult {
            CommandResult(
                json: [
                    "vault": .string(vault.path), "checked": ["anchor": report.json],
                    "generation": .integer(orNull: generation.map { Int64(clamping: $0) }),
                    "accepted": .bool(generation != nil && !workspace.options.dryRun),
                    "dryRun": .bool(workspace.options.dryRun),
                ], text: text)
        }
        guard let newest = against.map(\.generation).max() else {
            let lines = report.lines.map { "\($0)\n" }.joined()
            return result(
                nil, text: "Nothing speaks against this copy; nothing was changed.\n" + lines)
        }
        let generation = vault.header.generation
        let (next, isTooHigh) = max(generation, newest).addingReportingOverflow(1)
        guard !isTooHigh else {
            throw CommandError(
                .damaged, "What was seen of the vault here has no number that could follow.",
                hint:
                    "It was put there by somebody else. Remove \(session.anchors.file(of: vault.header.vaultID) ?? "it"), "
                    + "or the item of the keyring.")
        }
        let reason =
            newest > generation
            ? "though generation \(newest) was seen"
            : report.verdicts.values.contains(.olderCheckpoint)
                ? "though something newer was accepted on this machine"
                : "which did not come from the generation \(newest) that was seen"
        let plan = [
            "go on with generation \(generation) of \(vault.path), \(reason)",
            "make it generation \(next)",
        ]
        let answer = try workspace.confirm(plan, "Take this copy for the newest one?")
        if !answer {
            return result(
                next, text: plan.map { "Would \(DisplayText.safe(sentence: $0)).\n" }.joined())
        }
        try session.update(with: keys) { $0.outlive(against) }
        try workspace.endUnlocks(of: vault.header.vaultID)
        let now = try session.opened().header.generation
        if report.verdicts[.keyring] == .unavailable, try session.anchorPlaces().contains(.keyring)
        {
            context.warn(
                "keyring-not-asked",
                "The keyring cannot be used now. If it has seen a newer copy, it will say so.")
        }
        let lines = [
            "Accepted generation \(generation) of \(vault.path), \(reason).",
            "Against it spoke \(witnesses.joined(separator: " and ")).",
            "The vault is generation \(now) now, and newer than all that was seen.",
        ]
        return result(now, text: lines.map { "\(DisplayText.safe(sentence: $0))\n" }.joined())
    }
}
