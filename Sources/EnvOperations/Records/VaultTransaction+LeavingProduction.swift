package import Vault

/// A variable that production of the platform was to lose, of which no removed record of the vault tells.
package struct Departure {
    let key: String
    let attributes: VariableAttributes
    /// The platform's time by which it had left.
    let platformTime: UInt64

    /// What a record leaves behind that had production and has it no more.
    ///
    /// - Parameter attributes: Those that it had.
    init(of key: String, _ attributes: VariableAttributes, by platformTime: UInt64) {
        self.key = key
        self.attributes = attributes
        self.platformTime = platformTime
    }
}

extension VaultTransaction {
    /// Keeps a trace of each, a removed record without a value, until production was built without it. None
    /// where a record of the vault stands for one of that name that production has, or is still to lose.
    mutating func leaveTraces(
        of departures: [Departure], of project: Identifier, account: String, time: UInt64
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
            dropTraces(of: project) { $0.name == departure.key }
            var attributes = departure.attributes
            attributes.scope = Scope(targets: .production)
            var trace = Variable(
                project: project, name: departure.key, attributes: attributes, createdAt: time)
            trace.deletedAt = time
            // No record id: Vercel's record is gone, or has other targets now.
            trace.remote = RemoteState(
                id: "", key: departure.key, account: account, pushedVersion: 0,
                agreed: attributes, updatedAt: departure.platformTime, pushedAt: time)
            trace.remote?.end(by: departure.platformTime)
            index.variables.append(trace)
        }
    }

    /// Drops traces of what has come back to production.
    mutating func dropReturned(of project: Identifier) {
        guard index.variables.contains(where: { $0.project == project && $0.isTrace }) else {
            return
        }
        let returned = Set(
            index.variables.filter {
                $0.project == project && $0.isLive && $0.remote?.isGone == false
                    && $0.remote?.agreed.scope.targets.contains(.production) == true
            }.map(\.name))
        dropTraces(of: project) { returned.contains($0.name) }
    }

    mutating func dropTraces(of project: Identifier, where isMeant: (Variable) -> Bool) {
        index.variables.removeAll { $0.project == project && $0.isTrace && isMeant($0) }
    }
}

extension RemoteState {
    /// Tells whether a record that was for production is not, once both sides agree on `attributes`.
    func leavesProduction(with attributes: VariableAttributes) -> Bool {
        !isGone && agreed.scope.targets.contains(.production)
            && !attributes.scope.targets.contains(.production)
    }
}

extension Variable {
    /// Tells whether it stands only for what production was to lose; it never had a value.
    package var isTrace: Bool { deletedAt == createdAt && highestVersion == 0 }

    /// Tells whether Vercel's record of it was for production, as last agreed.
    var wasInProduction: Bool { remote?.agreed.scope.targets.contains(.production) ?? false }
}
