internal import CommandLineKit
internal import JSON
internal import Vault

/// `verify --accept-older`: accepts an older copy of the vault as the newest generation.
enum AcceptOlder {
    static func run(in workspace: Workspace) throws -> CommandResult {
        let (session, context) = (workspace.session, workspace.context)
        let keys = try session.openedByPassphrase().keys
        let vault = try session.opened()
        try vault.verify(with: keys)
        let report = try RollbackReport(session, with: keys)
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
        if report.verdicts[.stateDirectory] == .otherVault {
            let plan = ["use \(vault.path), which is another vault than the one last seen there"]
            if try !workspace.confirm(plan, "Accept this vault?") {
                return result(nil, text: DisplayText.lines(plan, after: "Would "))
            }
            session.updateGuards(
                try vault.observation(), of: vault.header.vaultID, try session.guardPlaces())
            try workspace.lockAllSessions(of: vault.header.vaultID)
            return result(
                vault.header.generation, text: "Accepted \(DisplayText.safe(vault.path)).\n")
        }
        guard let newest = against.map(\.generation).max() else {
            let lines = report.lines.map { "\($0)\n" }.joined()
            return result(
                nil,
                text: "This machine has not seen a newer copy; there is nothing to accept.\n"
                    + lines)
        }
        let generation = vault.header.generation
        let (next, isTooHigh) = max(generation, newest).addingReportingOverflow(1)
        guard !isTooHigh else {
            throw CommandError(
                .damaged, "The rollback guard holds the highest possible generation number.",
                hint:
                    "zg-env did not write that number. Remove \(session.rollback.anchors.file(of: vault.header.vaultID) ?? "it"), "
                    + "or zg-env's item in the keyring.")
        }
        let reason =
            report.verdicts.values.contains(.otherKey)
            ? "whose public key is not the one last seen"
            : newest > generation
                ? "although generation \(newest) has been seen"
                : "which is not based on generation \(newest), the newest generation seen"
        let plan = [
            "continue with generation \(generation) of \(vault.path), \(reason)",
            "make it generation \(next)",
        ]
        let answer = try workspace.confirm(plan, "Accept this copy as the newest one?")
        if !answer {
            return result(
                next, text: plan.map { "Would \(DisplayText.safe(sentence: $0)).\n" }.joined())
        }
        try session.changeKeys { $0.outlive(against) }
        try workspace.lockAllSessions(of: vault.header.vaultID)
        let now = try session.opened().header.generation
        if report.verdicts[.keyring] == .unavailable, try session.guardPlaces().contains(.keyring) {
            context.warn(
                "keyring-not-asked",
                "The keyring is not available now. If its rollback guard has a newer generation, "
                    + "zg-env will report it later.")
        }
        let lines = [
            "Accepted generation \(generation) of \(vault.path), \(reason).",
            "Newer or different generations were recorded in \(witnesses.joined(separator: " and ")).",
            "The vault is now generation \(now), newer than any seen before.",
        ]
        return result(now, text: lines.map { "\(DisplayText.safe(sentence: $0))\n" }.joined())
    }
}
