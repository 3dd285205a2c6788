package import Vault

extension VaultTransaction {
    /// Binds a project of the vault to one of Vercel. Where that is another one than before, what was agreed
    /// on with the old one's records says nothing of the new one's: it is forgotten, with writes of which
    /// the outcome is not known.
    ///
    /// - Returns: Of how many variables in use something was forgotten.
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
        dropTraces(of: project) { _ in true }
        end(((try? index.sends(of: project)) ?? []).map(\.id))
        return count
    }
}
