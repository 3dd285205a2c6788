internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault

/// `--push` of `set`, `rm` and `import`: sends these keys alone, after the vault has them.
enum PushAfterwards {
    static let options = [
        OptionSpec(flag: "push", "Send this variable to the platform too"),
        OptionSpec(
            flag: "redeploy", "With --push: redeploy production afterwards, and wait for it"),
    ]

    /// Keys for the write before a push: with the root, so that the push finds what this command did
    /// accepted.
    static func keys(
        _ invocation: Invocation, otherwise: () throws -> VaultKeys
    ) throws -> VaultKeys {
        invocation.command.has("push") && !invocation.options.dryRun
            ? try invocation.session.valueKeys() : try otherwise()
    }

    /// Pushes the key where that was asked for, and joins the results.
    ///
    /// The vault's change stands whatever becomes of the push; an error says so.
    ///
    /// - Parameter atHand: Values that this process holds, by record.
    static func push(
        _ key: String, _ invocation: Invocation, atHand: [Identifier: SecretSlice],
        beside result: CommandResult
    ) throws -> CommandResult {
        try push([key], invocation, atHand: atHand, beside: result)
    }

    /// Pushes several keys in one go.
    static func push(
        _ keys: Set<String>, _ invocation: Invocation, atHand: [Identifier: SecretSlice],
        beside result: CommandResult
    ) throws -> CommandResult {
        guard invocation.command.has("push") else {
            guard !invocation.command.has("redeploy") else {
                throw CommandError(
                    .usage, "--redeploy goes with --push.",
                    hint: "The vault was changed; nothing was sent.")
            }
            return result
        }
        var rules = PushPlan.Rules()
        rules.keys = keys
        var joined = result
        do {
            rules.records = Set(atHand.keys)
            rules.makingRoom = try others(of: keys, than: rules.records ?? [], invocation)
            let report = try PushWork(invocation, rules: rules, atHand: atHand).run(asks: false)
            if !invocation.command.has("redeploy"), let remark = report.remarkOnProduction {
                try invocation.note(remark)
            }
            joined = result.joined(with: "push", report.result())
            if report.failure == nil, invocation.command.has("redeploy") {
                joined = joined.joined(with: "deployment", try Redeploy.afterPush(invocation))
            }
        } catch {
            var failure = CommandError(mapping: error)
            failure.message += " The vault has the change; the platform was not brought in step."
            joined.failure = failure
        }
        return joined
    }

    /// The keys' other records that the platform has in the way: what lost targets must lose them
    /// there too. Where none of a key is sent, all of them.
    private static func others(
        of keys: Set<String>, than sent: Set<Identifier>, _ invocation: Invocation
    ) throws -> Set<Identifier> {
        let index = try invocation.session.index(.listing)
        let project = try ProjectResolver(invocation).existing(in: index)
        let records = index.variables.filter {
            $0.project == project.id && keys.contains($0.name)
        }
        let wanted = Dictionary(grouping: records.filter { sent.contains($0.id) }, by: \.name)
        return Set(
            records.filter { record in
                guard let remote = record.remote, !sent.contains(record.id) else { return false }
                return wanted[record.name]?.contains {
                    $0.attributes.scope.overlaps(remote.agreed.scope)
                } ?? true
            }.map(\.id))
    }

    /// Refuses `--redeploy` alone before anything is changed.
    static func check(_ invocation: Invocation) throws {
        guard invocation.command.has("push") || !invocation.command.has("redeploy") else {
            throw CommandError(.usage, "--redeploy goes with --push.", hint: "Nothing was changed.")
        }
    }
}

extension CommandResult {
    /// This result with another one as a member; the text and the failure of both.
    func joined(with name: String, _ other: CommandResult) -> CommandResult {
        var joined = self
        joined.json = {
            let own = try self.json()
            guard case .object(let members) = own else { return own }
            return .object(members + [.init(name, try other.json())])
        }
        joined.text = { try self.text() + other.text() }
        joined.failure = failure ?? other.failure
        return joined
    }
}
