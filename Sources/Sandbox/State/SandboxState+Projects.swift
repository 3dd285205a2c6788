extension SandboxState {
    /// Removes a project with its variables, deployments and other data.
    mutating func removeProject(at index: Int, by author: String?, at time: Int64) -> Project {
        let project = projects.remove(at: index)
        variables.removeAll { $0.projectId == project.id }
        deployments.removeAll { $0.projectId == project.id }
        aliases.removeAll { $0.projectId == project.id }
        customEnvironments.removeAll { $0.projectId == project.id }
        for place in sharedVariables.indices {
            sharedVariables[place].projectIds.removeAll { $0 == project.id }
        }
        tell("project.removed", project, by: author, at: time)
        return project
    }

    /// Returns the host name of a new deployment.
    mutating func newHost(of project: Project) -> String {
        "\(project.name)-\(generator.label(9))-\(slug(ofOwner: project.ownerId)).vercel.app"
    }

    /// Adds a project without deployments.
    mutating func addProject(
        name: String, ownerId: String, framework: String?, at time: Int64
    ) -> Project {
        let organization = slug(ofOwner: ownerId)
        let project = Project(
            id: generator.identifier("prj_", count: 28), name: name, ownerId: ownerId,
            createdAt: time, updatedAt: time, framework: framework,
            repository: Project.Repository(
                organization: organization, name: name,
                id: 100_000 + Int64(projects.count), productionBranch: "main",
                headCommit: generator.hexadecimal(40),
                hooks: [
                    Project.DeployHook(
                        id: generator.label(10), name: "default", branch: "main")
                ]),
            domains: ["\(name).vercel.app"], assignsDomains: true, exposesSystemVariables: false,
            hasRollingRelease: false)
        projects.append(project)
        return project
    }
}
