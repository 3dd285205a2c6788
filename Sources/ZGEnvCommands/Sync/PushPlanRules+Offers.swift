internal import EnvOperations
internal import Vault

extension PushPlan.Rules {
    /// Leaves out of a push what writers offer.
    ///
    /// - Parameter variables: All records of the project.
    /// - Throws: ``ExitCode/conflict`` if one is named.
    func leaveOutOffers(
        of variables: inout [Variable], in project: VaultProject, of index: VaultIndex,
        _ context: Context
    ) throws {
        let offers = try HeldGate.offers(in: project.id, of: index)
        let concerned = offers.values.filter(includes)
        if concerned.isEmpty { return variables.removeAll { offers[$0.id] != nil } }
        guard keys == nil, records == nil else {
            throw HeldGate.refusal(of: concerned, in: project.name)
        }
        variables.removeAll { offers[$0.id] != nil }
        HeldGate.warn(leftOut: concerned, of: project.name, context)
    }
}
