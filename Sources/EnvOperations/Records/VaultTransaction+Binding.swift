package import Vault

extension VaultTransaction {
    /// Binds a project of the vault to one of Vercel. If it was bound to another one, everything
    /// agreed with the old one's records is forgotten, including writes with unknown outcome.
    ///
    /// - Returns: The number of live variables for which something was forgotten.
    package mutating func bind(
        projectAt position: Int, to binding: VaultProject.Binding
    ) -> Int {
        let before = index.projects[position].binding
        index.projects[position].binding = binding
        guard let before,
            before.projectID != binding.projectID || before.origin != binding.origin
        else { return 0 }
        let project = index.projects[position].id
        index.projects[position].live = nil
        index.projects[position].seenAt = 0
        var count = 0
        for place in index.variables.indices
        where index.variables[place].project == project && index.variables[place].remote != nil {
            if index.variables[place].isLive { count += 1 }
            index.variables[place].remote = nil
        }
        index.forgetOtherAgreements(of: project) { _ in true }
        index.dropTraces(of: project) { _ in true }
        end(((try? index.sends(of: project)) ?? []).map(\.id))
        return count
    }
}
