internal import JSON

/// A change by a person in the dashboard, as `set,key=A,value=two words,by=other`.
package struct Act: Sendable, Equatable {
    enum Deed: String, Sendable, CaseIterable {
        /// Changes members of a variable.
        case set
        /// Changes only a variable's `updatedAt` and author.
        case touch
        case remove, create
        /// Transfers a project with its data to another owner.
        case moveProject = "move-project"
        case removeProject = "remove-project"
        /// Removes a project and creates an empty one with the same name.
        case recreateProject = "recreate-project"
        /// Production variables are left out of what the tokens list, or are there again.
        case hideProduction = "hide-production"
        case showProduction = "show-production"
    }

    /// When it happens, relative to a request.
    enum Moment: String, Sendable {
        case before, then
    }

    let deed: Deed
    /// `self` (the user of the token), `other`, `nobody`, or a user's id or name.
    let author: String
    /// An id or a name; `nil` for the project of the request, or else the first one.
    let project: String?
    /// The new owner: a team's slug or id, or `personal`.
    let team: String?
    /// The variable; ``id``, ``targets`` and ``gitBranch`` select one of several with this key.
    let key: String?
    let id: String?
    /// The whole scope of the variable: the three environments, and custom ones by slug or id.
    let targets: [String]?
    let gitBranch: String?
    let value: String?
    let type: VariableType?
    let comment: String?
    /// `config` or `secret`.
    let visibility: String?
    /// What an integration says that the variable is.
    let integration: String?
    let newKey: String?
    let newTargets: [String]?
    /// The notation of the act, without values.
    let text: String

    private static let names: Set<String> = [
        "by", "project", "team", "key", "id", "targets", "gitBranch", "value", "type", "comment",
        "newKey", "newTargets", "visibility", "integration",
    ]

    /// Parses a JSON object; its member `act` selects the kind.
    init(_ fields: Fields) throws(APIError) {
        try fields.allow(only: Self.names.union(["act"]))
        let word = try fields.requiredString("act")
        guard let deed = Deed(rawValue: word) else { throw .badRequest("Unknown act: \(word)") }
        self.deed = deed
        author = try fields.string("by") ?? "other"
        project = try fields.string("project")
        team = try fields.string("team")
        key = try fields.string("key")
        id = try fields.string("id")
        targets = try fields.strings("targets")
        gitBranch = try fields.string("gitBranch")
        value = try fields.string("value")
        type = try fields.string("type").map { (word) throws(APIError) in
            guard let type = VariableType(rawValue: word) else {
                throw .badRequest("Unknown type: \(word)")
            }
            return type
        }
        comment = try fields.string("comment")
        visibility = try fields.string("visibility")
        integration = try fields.string("integration")
        newKey = try fields.string("newKey")
        newTargets = try fields.strings("newTargets")
        text = fields.members.keys.sorted().filter { $0 != "act" }.reduce(word) { text, name in
            let member = fields.members[name]
            let shown =
                ["value", "comment"].contains(name)
                ? "***"
                : member?.string ?? member?.array?.compactMap(\.string).joined(separator: "+") ?? ""
            return "\(text),\(name)=\(shown)"
        }
        try checkMembers()
    }

    /// Throws if required members are missing.
    private func checkMembers() throws(APIError) {
        let isComplete =
            switch deed {
            case .set:
                (key ?? id) != nil
                    && (value != nil || type != nil || comment != nil || newKey != nil
                        || newTargets != nil || visibility != nil || integration != nil)
            case .touch, .remove: (key ?? id) != nil
            case .create: key != nil && value != nil
            case .moveProject: team != nil
            case .removeProject, .recreateProject, .hideProduction, .showProduction: true
            }
        guard isComplete else { throw .badRequest("The act \(deed.rawValue) is missing fields.") }
    }

    /// Parses `DEED[,NAME=VALUE…]`, percent-encoded, with `+` between the elements of lists.
    package init?(_ text: String) {
        guard let arguments = Arguments(text, names: Self.names) else { return nil }
        var members: [String: JSONValue] = ["act": .string(arguments.first)]
        for (name, value) in arguments.named {
            members[name] =
                ["targets", "newTargets"].contains(name)
                ? .strings(value.split(separator: "+").map(String.init)) : .string(value)
        }
        guard let act = try? Act(Fields(.members(members))) else { return nil }
        self = act
    }
}
