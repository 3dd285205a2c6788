internal import JSON

extension SandboxState {
    /// Performs a change in the dashboard, by the API's rules.
    ///
    /// - Parameter place: The default project of the act, by id or name.
    /// - Returns: The record in the form of lists, or the project's id, name and owner.
    mutating func perform(_ act: Act, project place: String?, at time: Int64) throws(APIError)
        -> JSONValue
    {
        let author = try userId(of: act.author)
        let index = try projectIndex(of: act.project ?? place)
        switch act.deed {
        case .create: return try create(act, projects[index], by: author, at: time).json
        case .set, .touch:
            return try change(act, of: projects[index], by: author, at: time).json
        case .remove:
            let record = variables.remove(at: try recordIndex(act, of: projects[index]))
            tell("deleted", [record], by: author, at: time)
            return record.json
        case .moveProject: return try moveProject(at: index, act, at: time)
        case .removeProject:
            let project = removeProject(at: index, by: author, at: time)
            return summary(project)
        case .recreateProject:
            let old = removeProject(at: index, by: author, at: time)
            let project = addProject(
                name: old.name, ownerId: old.ownerId, framework: old.framework, at: time)
            tell("project.created", project, by: author, at: time)
            return summary(project)
        case .hideProduction, .showProduction:
            for place in tokens.indices {
                tokens[place].hidesProduction = act.deed == .hideProduction
            }
            return [:]
        }
    }

    private func summary(_ project: Project) -> JSONValue {
        [
            "id": .string(project.id), "name": .string(project.name),
            "accountId": .string(project.ownerId),
        ]
    }

    /// Returns the id of a user by a word such as `self`, by id or by name; `nil` for `nobody`.
    private func userId(of author: String) throws(APIError) -> String? {
        switch author {
        case "nobody": return nil
        case "self": return user.id
        default:
            let known = author == "other" ? colleagues : [user] + colleagues
            let found = known.first {
                author == "other" || $0.id == author || $0.username == author
            }
            guard let found else { throw .notFound("User") }
            return found.id
        }
    }

    /// Returns a project by id or by name, preferring the user's own.
    private func projectIndex(of name: String?) throws(APIError) -> Int {
        let index =
            if let name {
                projects.firstIndex { $0.id == name }
                    ?? projectIndex(name, ownerId: user.id)
                    ?? projects.firstIndex { $0.name == name }
            } else {
                projects.indices.first
            }
        guard let index else { throw .notFound("Project") }
        return index
    }

    /// Separates a scope into fixed and custom environments.
    private func scope(_ words: [String], of project: Project) throws(APIError)
        -> (targets: [Target], customEnvironmentIds: [String])
    {
        var targets: [Target] = []
        var ids: [String] = []
        for word in words {
            if let target = Target(rawValue: word) {
                targets.append(target)
            } else if let custom = customEnvironment(word, of: project) {
                ids.append(custom.id)
            } else {
                throw .notFound("Environment \(word)")
            }
        }
        return (targets, ids)
    }

    private func recordIndex(_ act: Act, of project: Project) throws(APIError) -> Int {
        var found = variables.indices.filter { index in
            let record = variables[index]
            return record.projectId == project.id && (act.id ?? record.id) == record.id
                && (act.key ?? record.key) == record.key
                && (act.gitBranch == nil || act.gitBranch == record.gitBranch)
        }
        if let words = act.targets {
            let wanted = try scope(words, of: project)
            found = found.filter { index in
                Set(variables[index].targets) == Set(wanted.targets)
                    && Set(variables[index].customEnvironmentIds)
                        == Set(wanted.customEnvironmentIds)
            }
        }
        guard let index = found.first else { throw .notFound("Environment variable") }
        guard found.count == 1 else {
            throw .badRequest("Several records match: add `targets`, `gitBranch` or `id`.")
        }
        return index
    }

    private mutating func create(
        _ act: Act, _ project: Project, by author: String?, at time: Int64
    ) throws(APIError) -> EnvironmentVariable {
        let type = act.type ?? .encrypted
        let usual: [Target] = type == .sensitive ? [.production, .preview] : Target.allCases
        let places = try scope(act.targets ?? usual.map(\.rawValue), of: project)
        let wanted = EnvironmentVariable(
            id: generator.identifier("", count: 16), projectId: project.id, key: act.key ?? "",
            value: act.value ?? "", type: type, targets: places.targets,
            customEnvironmentIds: places.customEnvironmentIds, gitBranch: act.gitBranch,
            comment: act.comment, createdAt: time, updatedAt: time, createdBy: author,
            updatedBy: nil, visibility: act.visibility, integration: act.integration)
        let record = try EnvironmentRules.accepted(wanted, of: project, in: self)
        variables.append(record)
        tell("created", [record], by: author, at: time)
        return record
    }

    private mutating func change(
        _ act: Act, of project: Project, by author: String?, at time: Int64
    ) throws(APIError) -> EnvironmentVariable {
        let index = try recordIndex(act, of: project)
        var record = variables[index]
        if act.deed == .set {
            record.value = act.value ?? record.value
            record.type = act.type ?? record.type
            record.comment = act.comment ?? record.comment
            record.key = act.newKey ?? record.key
            record.visibility = act.visibility ?? record.visibility
            record.integration = act.integration ?? record.integration
            if let words = act.newTargets {
                (record.targets, record.customEnvironmentIds) = try scope(words, of: project)
            }
            record = try EnvironmentRules.accepted(
                record, insteadOf: variables[index], of: project, in: self)
        }
        record.updatedAt = time
        record.updatedBy = author ?? record.updatedBy
        variables[index] = record
        tell("updated", [record], by: author, at: time)
        return record
    }

    private mutating func moveProject(at index: Int, _ act: Act, at time: Int64) throws(APIError)
        -> JSONValue
    {
        let name = act.team ?? ""
        let team = teams.first { $0.slug == name || $0.id == name }
        guard name == "personal" || team != nil else { throw .notFound("Team") }
        let owner = team?.id ?? user.id
        let project = projects[index]
        guard projectIndex(project.name, ownerId: owner) == nil else {
            throw .conflict("A project with that name already exists.")
        }
        projects[index].ownerId = owner
        projects[index].updatedAt = time
        for place in deployments.indices where deployments[place].projectId == project.id {
            deployments[place].ownerId = owner
        }
        for place in sharedVariables.indices {
            sharedVariables[place].projectIds.removeAll { $0 == project.id }
        }
        return summary(projects[index])
    }
}
