package import Vault

/// A variable that was to be removed from production on Vercel, without a removed record in the
/// vault.
package struct ProductionRemoval {
    let key: String
    /// The attributes that it had.
    let attributes: VariableAttributes
    /// Vercel's time by which it was removed.
    let vercelTime: UInt64
}

extension VaultTransaction {
    /// Adds a trace for each, a removed record without a value that stays until production was
    /// built without it. Skips names for which the vault has a record that production has or is
    /// still to lose.
    mutating func addTraces(
        of departures: [ProductionRemoval], of project: Identifier, account: String, time: UInt64
    ) {
        for departure in departures {
            let isTold = index.variables.contains {
                guard $0.project == project, $0.remote?.isGone == false else { return false }
                return $0.isLive
                    ? $0.name == departure.key
                        && $0.attributes.scope.targets.contains(.production)
                    : $0.remote?.key == departure.key && $0.wasInProduction
            }
            if isTold { continue }
            index.dropTraces(of: project) { $0.name == departure.key }
            var attributes = departure.attributes
            attributes.scope = Scope(targets: .production)
            var trace = Variable(
                project: project, name: departure.key, attributes: attributes, createdAt: time)
            trace.deletedAt = time
            // No record id: Vercel's record is gone or has other targets now.
            trace.remote = RemoteState(
                id: "", key: departure.key, account: account, pushedVersion: 0,
                agreed: attributes, updatedAt: departure.vercelTime, pushedAt: time)
            trace.remote?.end(by: departure.vercelTime)
            index.variables.append(trace)
        }
    }

    /// Drops the traces of names that production has again.
    mutating func dropObsoleteTraces(of project: Identifier) {
        guard index.variables.contains(where: { $0.project == project && $0.isTrace }) else {
            return
        }
        let returned = index.namesInProduction(of: project)
        index.dropTraces(of: project) { returned.contains($0.name) }
    }
}

extension RemoteState {
    /// Returns its removal from production by a record's new attributes; nil if it was not there or
    /// stays.
    func removal(with attributes: VariableAttributes, by vercelTime: UInt64) -> ProductionRemoval? {
        guard !isGone, agreed.scope.targets.contains(.production),
            !attributes.scope.targets.contains(.production)
        else { return nil }
        return ProductionRemoval(key: key, attributes: agreed, vercelTime: vercelTime)
    }
}

extension VaultIndex {
    mutating func dropTraces(of project: Identifier, where isMeant: (Variable) -> Bool) {
        variables.removeAll { $0.project == project && $0.isTrace && isMeant($0) }
    }

    /// Returns the names of a project's variables that production has, as far as the vault knows.
    func namesInProduction(of project: Identifier) -> Set<String> {
        Set(
            variables.filter {
                $0.project == project && $0.isLive && $0.remote?.isGone == false
                    && $0.wasInProduction
            }.map(\.name))
    }
}

extension Variable {
    /// Whether it only records that production is to lose a variable. It never had a value.
    package var isTrace: Bool { deletedAt == createdAt && highestVersion == 0 }

    /// Whether Vercel's record of it was for production, as last agreed.
    var wasInProduction: Bool { remote?.agreed.scope.targets.contains(.production) ?? false }
}
