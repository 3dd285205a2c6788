internal import Vault

/// A change to the vault as a value: what it will do, and how.
///
/// A change that is asked about, or that depends on the network, has a plan, which is made before
/// the question and again under the lock; if the two differ, nothing is written. Plans hold ids and
/// version numbers, never values.
struct Change<Plan, Result> {
    /// Finds, in the table, the only project whose variables the change reads or writes, or nil for
    /// a new one; without it all are opened.
    var project: ((VaultIndex) throws -> VaultProject?)?
    /// Returns what the change will do to an index.
    ///
    /// - Parameter values: Opens values.
    let plan: (_ index: VaultIndex, _ values: ValueReader) throws -> Plan
    /// Changes the index and the values of the transaction, once, under the lock; must not wait for
    /// people, programs or the network. Adds to `news` what the write reports to features.
    let apply:
        (_ transaction: inout VaultTransaction, _ plan: Plan, _ news: inout News) throws -> Result
}

/// The plan of a change that no one confirmed.
struct NoPlan: Equatable {}

extension Change {
    init(
        plan: @escaping (_ index: VaultIndex, _ values: ValueReader) throws -> Plan,
        apply:
            @escaping (
                _ transaction: inout VaultTransaction, _ plan: Plan, _ news: inout News
            ) throws -> Result
    ) {
        self.init(project: nil, plan: plan, apply: apply)
    }
}

extension Change where Plan == NoPlan {
    /// A change that decides all of what it does under the lock.
    init(
        of project: ((VaultIndex) throws -> VaultProject?)? = nil,
        _ apply:
            @escaping (_ transaction: inout VaultTransaction, _ news: inout News) throws -> Result
    ) {
        self.init(project: project, plan: { _, _ in NoPlan() }) { transaction, _, news in
            try apply(&transaction, &news)
        }
    }
}

/// A plan with the part of the index that it was made from.
struct Planned<Plan> {
    let plan: Plan
    /// What is compared to say what changed.
    let variables: [Variable]
    /// The projects of which all variables are there.
    let whole: Set<Identifier>
    /// nil if they are not compared.
    let projects: [VaultProject]?

    init(_ plan: Plan, in index: VaultIndex) {
        (self.plan, variables, projects) = (plan, index.variables, index.projects)
        whole = Set(index.projects.map(\.id).filter(index.isOpened))
    }

    /// - Parameters:
    ///   - variables: What the plan depends on.
    ///   - project: The project whose variables they all are; nil if others do not matter.
    init(_ plan: Plan, about variables: [Variable], of project: Identifier? = nil) {
        (self.plan, self.variables, projects) = (plan, variables, nil)
        whole = Set([project].compactMap(\.self))
    }
}
