package import Sealing
package import Vault
package import VercelAPI

/// Sends a plan, reads back what can be read back, and tells the vault after each request.
package final class PushApplication {
    /// Gives the value of a record of the vault.
    package typealias ValueSource = (Variable) throws -> SecretSlice

    let client: VercelClient
    let project: String
    let environments: CustomEnvironmentNames
    private let productionBranch: String?
    let values: ValueSource
    let keep: ([PushRecord]) throws -> Void
    private let progress: (Int, Int) -> Void
    /// What became of each step of the plan, in its order; nil for those not yet sent.
    var outcomes: [PushOutcome?] = []

    /// Variables sent in one request: the answer of a larger one would take long enough to be lost.
    private static let batchSize = 100

    /// - Parameters:
    ///   - project: The platform's id.
    ///   - keep: Writes to the vault what the platform has now; called after each request.
    ///   - progress: Told how many steps of how many are done.
    package init(
        client: VercelClient, project: String, environments: CustomEnvironmentNames,
        productionBranch: String?, values: @escaping ValueSource,
        keep: @escaping ([PushRecord]) throws -> Void, progress: @escaping (Int, Int) -> Void
    ) {
        self.client = client
        self.project = project
        self.environments = environments
        self.productionBranch = productionBranch
        self.values = values
        self.keep = keep
        self.progress = progress
    }

    /// Holds every step that sends a value against the platform's limits, before anything is sent.
    ///
    /// - Parameter variables: All records of the project; those that the platform has already count
    ///   for the size of a deployment. What only the platform has is not counted.
    /// - Returns: One sentence a problem, with the key where it is one key's.
    package func problems(of plan: PushPlan, among variables: [Variable]) throws -> [String] {
        var problems: [String] = []
        var entries: [EnvironmentVariableRules.Entry] = []
        for step in plan.steps {
            guard let new = try newVariable(step) else { continue }
            for name in step.attributes.scope.customEnvironments
            where environments.id(of: name) == nil {
                problems.append("\(step.key): the project has no environment \(name)")
            }
            problems += EnvironmentVariableRules.problems(
                of: new, productionBranch: productionBranch
            ).map { "\(step.key): \($0.description)" }
            entries.append(entry(step.key, step.attributes.scope, new.value.count))
        }
        guard !entries.isEmpty else { return problems }
        let sent = Set(plan.steps.compactMap(\.variable?.id))
        for variable in variables where variable.isLive && !sent.contains(variable.id) {
            // A value that cannot be had here is not sent either: the platform will count it.
            guard let remote = variable.remote, remote.pushedVersion == variable.currentVersion,
                let value = try? values(variable)
            else { continue }
            entries.append(entry(variable.name, variable.attributes.scope, value.count))
        }
        return problems
            + EnvironmentVariableRules.totalProblems(of: entries).map(\.description)
    }

    private func entry(
        _ key: String, _ scope: Scope, _ byteCount: Int
    ) -> EnvironmentVariableRules.Entry {
        .init(
            key: key, valueByteCount: byteCount,
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments)
    }

    /// Sends the steps in order. After a failure that will not pass by itself nothing more is sent,
    /// and the rest is reported as not sent.
    package func send(_ plan: PushPlan) throws -> [PushOutcome] {
        outcomes = Array(repeating: nil, count: plan.steps.count)
        var places = plan.steps.indices[...]
        var underWay = places.prefix(0)
        do {
            while let place = places.first {
                underWay = places.prefix(1)
                if case .create = plan.steps[place].action {
                    underWay = places.prefix(Self.batchSize).prefix {
                        if case .create = plan.steps[$0].action { true } else { false }
                    }
                    try create(underWay.map { ($0, plan.steps[$0]) })
                } else {
                    try sendOne(plan.steps[place], at: place)
                }
                places = places.dropFirst(underWay.count)
                progress(plan.steps.count - places.count, plan.steps.count)
            }
        } catch let error as VercelAPIError {
            for place in places where outcomes[place] == nil {
                let reason = underWay.contains(place) ? error.description : "not sent"
                outcomes[place] = PushOutcome(
                    step: plan.steps[place], end: .failed(reason, error), record: nil)
            }
        }
        try readBack(outcomes.indices.filter { outcomes[$0]?.isVerified ?? false })
        try readBack(try repair())
        return outcomes.compactMap { $0 }
    }

    func newVariable(_ step: PushPlan.Step) throws -> NewEnvironmentVariable? {
        guard let variable = step.variable else { return nil }
        switch step.action {
        case .delete, .update(_, withValue: false): return nil
        case .create, .update(_, withValue: true): break
        }
        let scope = step.attributes.scope
        return NewEnvironmentVariable(
            key: step.key, value: try values(variable),
            type: .init(rawValue: step.attributes.kind.name),
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments.map { environments.id(of: $0) ?? $0 },
            comment: step.attributes.comment)
    }
}
