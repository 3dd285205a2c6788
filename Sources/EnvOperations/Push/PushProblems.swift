package import Sealing
package import Vault
internal import VercelAPI

/// What is wrong with the steps of a plan that send values.
package struct PushProblems {
    /// A sentence for each variable that Vercel would reject, or whose value is ciphertext, a
    /// reference or a placeholder, by key.
    package fileprivate(set) var keys: [String: String] = [:]
    /// Problems of the project and of all values together.
    package fileprivate(set) var general: [String] = []
    /// Whether an environment would have too many variables.
    package fileprivate(set) var hasTooMany = false
    /// Records whose value is empty.
    package fileprivate(set) var empty: Set<Identifier> = []
}

extension PushPlan {
    /// Checks every step that sends a value against Vercel's limits, before anything is sent.
    ///
    /// - Parameters:
    ///   - variables: All records of the project. Those that Vercel already has count for the size
    ///     of a deployment; records that only Vercel has do not.
    ///   - insisted: Keys whose ciphertext or reference is meant to be sent.
    package func problems(
        on vercel: VercelPlatform, productionBranch: String?, among variables: [Variable],
        insisted: Set<String>, values: (Variable) throws -> SecretSlice
    ) throws -> PushProblems {
        var problems = PushProblems()
        var entries: [EnvironmentVariableRules.Entry] = []
        for step in steps where step.variable != nil && !step.isDeletion {
            for name in step.attributes.scope.customEnvironments
            where vercel.environments.id(of: name) == nil {
                problems.general.append(
                    "\(step.key): the project has no custom environment \(name)")
            }
        }
        for step in steps {
            guard step.sendsValue, let variable = step.variable else { continue }
            let new = vercel.newVariable(step.key, try values(variable), step.attributes)
            let broken = EnvironmentVariableRules.problems(
                of: new, productionBranch: productionBranch)
            if let first = broken.first {
                problems.keys[step.key] = first.description
            } else if !insisted.contains(step.key),
                new.value.withBytes({
                    FileStandIns.isPlaceholder($0)
                        || ValueWarning.isCiphertextOrReference($0, of: step.key)
                })
            {
                problems.keys[step.key] =
                    "its value is encrypted, a placeholder, or refers to a secret elsewhere (zg-env push \(step.key) --force sends it as it is)"
            }
            if new.value.count == 0 { problems.empty.insert(variable.id) }
            if problems.keys[step.key] == nil {
                entries.append(Self.entry(step.key, step.attributes.scope, new.value.count))
            }
        }
        let tooMany = countProblems(without: Set(problems.keys.keys))
        problems.hasTooMany = !tooMany.isEmpty
        problems.general += tooMany
        guard !entries.isEmpty else { return problems }
        let sent = Set(steps.compactMap { $0.variable?.id })
        for variable in variables where variable.isLive && !sent.contains(variable.id) {
            // A value that is not available here is not sent either; Vercel will count it.
            guard let remote = variable.remote, remote.pushedVersion == variable.currentVersion,
                let value = try? values(variable)
            else { continue }
            entries.append(Self.entry(variable.name, variable.attributes.scope, value.count))
        }
        problems.general += EnvironmentVariableRules.totalProblems(of: entries).map(\.description)
        return problems
    }

    /// Returns the environments that would have too many variables.
    ///
    /// - Parameter left: Keys whose steps are not sent.
    private func countProblems(without left: Set<String>) -> [String] {
        var scopes = Dictionary(firstOf: platform.map { ($0.id, $0.attributes.scope) })
        let before = scopes.values.map { Self.entry("", $0, 0) }
        var new: [Scope] = []
        for step in steps where !left.contains(step.key) {
            switch step.action {
            case .create: new.append(step.attributes.scope)
            case .update(let id, _): scopes[id] = step.attributes.scope
            case .delete(let id): scopes[id] = nil
            }
        }
        let after = (scopes.values + new).map { Self.entry("", $0, 0) }
        return EnvironmentVariableRules.countProblems(of: after, before: before)
            .map(\.description)
    }

    private static func entry(
        _ key: String, _ scope: Scope, _ byteCount: Int
    ) -> EnvironmentVariableRules.Entry {
        .init(
            key: key, valueByteCount: byteCount,
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments)
    }
}
