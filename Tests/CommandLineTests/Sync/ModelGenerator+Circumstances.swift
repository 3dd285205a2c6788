import Sandbox
import Vault

extension ModelGenerator {
    private static let integration = "integration=integration-store-secret"

    /// Returns a step that a circumstance adds; nil to go on as in other sequences.
    ///
    /// - Parameter isHidden: Whether production variables are hidden now.
    mutating func step(
        of circumstance: ModelCircumstance, isHidden: Bool, _ vaults: [ModelMachine.Contents]
    ) -> ModelStep? {
        guard chance(30) else { return nil }
        return switch circumstance {
        case .hidden: hiding(isHidden, vaults)
        case .managed: managing(vaults)
        case .secret: keepingSecret(vaults)
        case .separated: separating(vaults)
        }
    }

    private mutating func machine(_ vaults: [ModelMachine.Contents]) -> Int {
        number(in: 0...(vaults.count - 1))
    }

    private func which(_ record: Stored) -> String {
        "key=\(record.key),targets=\(record.targets.joined(separator: "+"))"
    }

    /// Somebody who acts.
    private mutating func by() -> String { "by=\(pick(["other", "self", "nobody"], or: "other"))" }

    private func push(_ machine: Int, _ options: [String]) -> ModelCommand {
        ModelCommand(
            machine: machine, words: ["push", "-p", "web"] + options + ["--yes", "--json"])
    }

    // MARK: Hidden production

    private mutating func hiding(_ isHidden: Bool, _ vaults: [ModelMachine.Contents]) -> ModelStep?
    {
        let act = isHidden ? "show-production" : "hide-production"
        if chance(isHidden ? 30 : 50) { return .act(act) }
        let machine = machine(vaults)
        if isHidden, chance(50) {
            // What has something to send to production.
            var command = push(
                machine, weighted([(4, []), (3, ["--force"]), (1, ["--prune"])], or: []))
            let here = vaults[machine].records.map(\.variable.name).sorted()
            if chance(30), let key = pick(here) { command.words.insert(key, at: 1) }
            return .command(command)
        }
        var command =
            chance(70)
            ? push(machine, chance(40) ? ["--force"] : [])
            : ModelCommand(
                machine: machine,
                words: pick(
                    [
                        ["pull", "-p", "web", "--yes", "--json"],
                        ["pull", "-p", "web", "--yes", "--json", "--force"],
                        ["harden", "-p", "web", "--yes", "--json"],
                        ["list", "-p", "web", "--refresh", "--json"],
                    ], or: []))
        if command.name == "push", chance(30) {
            command.words.removeLast(2)
            command.interlude = act
            return .command(command)
        }
        let moment = pick(["before", "then"], or: "then")
        let request = weighted(
            [
                (3, "GET */env"), (2, "PATCH */env/*"), (1, "POST */env"), (1, "DELETE */env*"),
                (1, "GET */env/*"),
            ], or: "GET */env")
        command.faults = [
            "\(request) \(moment):\(act)",
            // So that the listing is made again.
            "\(pick(["PATCH */env/*", "POST */env", "DELETE */env*"], or: "* *")) slow:2.2 x1",
        ]
        if chance(60) { command.faults.removeLast() }
        return .command(command)
    }

    // MARK: Integrations

    private mutating func managing(_ vaults: [ModelMachine.Contents]) -> ModelStep? {
        let managed = stored.filter { $0.integration != nil }
        guard let record = pick(managed), chance(60) else {
            let place = pick(Array(Self.targets.prefix(3)), or: Self.targets[0])
                .joined(separator: "+")
            guard let record = pick(stored.filter { $0.integration == nil }), chance(75) else {
                return .act(
                    "create,key=\(pick(Self.keys, or: "ONE")),value=\(value()),targets=\(place),"
                        + "\(Self.integration),\(by())")
            }
            let act = "set,\(which(record)),\(Self.integration)"
            if chance(30) {
                var command = push(machine(vaults), [])
                command.faults = ["PATCH */env/* \(pick(["before", "then"], or: "then")):\(act)"]
                return .command(command)
            }
            return .act(act + (chance(30) ? ",value=\(value())" : "") + ",\(by())")
        }
        if chance(20) { return .act("set,\(which(record)),value=\(value()),\(by())") }
        return .command(changing(record, on: machine(vaults)))
    }

    /// A command that would change a variable on Vercel.
    private mutating func changing(_ record: Stored, on machine: Int) -> ModelCommand {
        let web = ["-p", "web"]
        let targets = record.targets.joined(separator: ",")
        var command = ModelCommand(machine: machine, words: [])
        switch number(in: 0...9) {
        case 0...2:
            command.words = ["set", record.key] + web + ["-t", targets, "--raw"]
            command.input = value()
            if chance(60) { command.words += ["--push", "--yes", "--json"] }
        case 3:
            command.words = ["rm", record.key] + web + ["--all", "--yes"]
            if chance(60) { command.words += ["--push", "--json"] }
        case 4: command.words = ["harden", record.key] + web + ["--yes", "--json"]
        case 5:
            command.words =
                ["rotate", record.key] + web + ["--raw", "--yes", "--json", "--timeout", "4s"]
            command.input = value()
        case 6: command.words = ["rename", record.key, pick(Self.keys, or: "TWO")] + web
        case 7:
            command.words = ["pull", record.key] + web + ["--yes", "--json"]
            if chance(50) { command.words.append("--force") }
        default:
            command = push(machine, chance(30) ? ["--force"] : [])
            if chance(50) { command.words.insert(record.key, at: 1) }
        }
        return command
    }

    // MARK: Secrets by their visibility

    private mutating func keepingSecret(_ vaults: [ModelMachine.Contents]) -> ModelStep? {
        let secrets = stored.filter { $0.isSecret && $0.type != "sensitive" }
        if let record = pick(secrets), chance(50) {
            return chance(25)
                ? .act("set,\(which(record)),value=\(value()),\(by())")
                : .command(changing(record, on: machine(vaults)))
        }
        guard let record = pick(stored.filter { !$0.isSecret }), chance(70) else {
            let place = pick(Self.targets, or: Self.targets[0]).joined(separator: "+")
            let type = pick(["encrypted", "plain"], or: "plain")
            return .act(
                "create,key=\(pick(Self.keys, or: "ONE")),value=\(value()),targets=\(place),"
                    + "type=\(type),visibility=secret,\(by())")
        }
        let act = "set,\(which(record)),visibility=secret"
        if chance(25) {
            var command = push(machine(vaults), [])
            command.faults = ["PATCH */env/* \(pick(["before", "then"], or: "then")):\(act)"]
            return .command(command)
        }
        return .act(act + (chance(50) ? ",value=\(value())" : "") + ",\(by())")
    }

    // MARK: Separate Secrets of production

    private mutating func separating(_ vaults: [ModelMachine.Contents]) -> ModelStep? {
        if !isSeparated || chance(15) {
            isSeparated.toggle()
            return .policy(separates: isSeparated)
        }
        let machine = machine(vaults)
        var command = ModelCommand(machine: machine, words: [])
        let elsewhere = vaults[machine].records.filter {
            $0.variable.isLive && $0.value != nil
                && !$0.variable.attributes.scope.targets.contains(.production)
        }.sorted { $0.name < $1.name }
        if let other = pick(elsewhere), chance(50) {
            command.words = [
                "set", other.variable.name, "-p", "web", "-t", "production", "--raw", "--type",
                "sensitive",
            ]
            command.input = other.value
        } else {
            let targets = pick(Array(Self.targets.prefix(3)), or: Self.targets[2])
            command.words = [
                "set", pick(Self.keys, or: "ONE"), "-p", "web", "-t",
                targets.joined(separator: ","), "--raw", "--type", "sensitive",
            ]
            command.input = value()
        }
        if chance(60) { command.words += ["--push", "--yes", "--json"] }
        return .command(command)
    }
}
