/// Where a value is used: a fixed target, a custom environment, or the previews of one branch.
package struct ValueTarget: Hashable, Sendable {
    package enum Environment: Hashable, Sendable {
        /// One of Vercel's three targets.
        case target(Scope.Targets)
        /// A custom environment by id or slug, which has only its own values.
        case custom(String)
    }

    package let environment: Environment
    /// The git branch, whose values take precedence over those of the environment.
    package let branch: String?

    package init(_ environment: Environment, branch: String? = nil) {
        self.environment = environment
        self.branch = branch
    }

    /// The target of that name, which is a custom environment unless it is one of Vercel's; for
    /// preview, optionally of a branch.
    package init(named name: String, branch: String? = nil) {
        if let fixed = Scope.Targets(name: name) {
            self.init(.target(fixed), branch: fixed == .preview ? branch : nil)
        } else {
            self.init(.custom(name))
        }
    }

    /// The name of the target or custom environment.
    package var name: String {
        switch environment {
        case .target(let target): target.names.joined(separator: ",")
        case .custom(let name): name
        }
    }

    /// The target in messages, such as `production` or `preview@feature`.
    package var title: String { branch.map { "\(name)@\($0)" } ?? name }
}

extension Scope {
    /// Makes the scope of exactly one target.
    package init(_ target: ValueTarget) {
        switch target.environment {
        case .target(let fixed): self.init(targets: fixed, branch: target.branch)
        case .custom(let name):
            self.init(targets: [], customEnvironments: [name], branch: target.branch)
        }
    }

    /// The targets of the scope, the heaviest first.
    package var valueTargets: [ValueTarget] {
        let custom = customEnvironments.map { ValueTarget(.custom($0), branch: branch) }
        func fixed(_ target: Targets) -> [ValueTarget] {
            targets.contains(target) ? [ValueTarget(.target(target), branch: branch)] : []
        }
        return fixed(.production) + custom + fixed(.preview) + fixed(.development)
    }

    /// Whether a value of this scope is used in a target: as its own, or as the general one of a branch.
    package func applies(in target: ValueTarget) -> Bool {
        guard branch == nil || branch == target.branch else { return false }
        switch target.environment {
        case .target(let target): return targets.isSuperset(of: target)
        case .custom(let name): return customEnvironments.contains(name)
        }
    }
}
