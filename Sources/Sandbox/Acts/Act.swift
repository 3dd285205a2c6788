internal import JSON

/// What a person does at the dashboard, as `set,key=A,value=two words,by=other`.
package struct Act: Sendable, Equatable {
    enum Deed: String, Sendable, CaseIterable {
        /// Changes members of a variable.
        case set
        /// Moves a variable's `updatedAt` and author, and nothing else.
        case touch
        case remove, create
        /// Gives a project to another owner, with all that it has.
        case moveProject = "move-project"
        case removeProject = "remove-project"
        /// Removes a project and makes an empty one of the same name.
        case recreateProject = "recreate-project"
    }

    /// When it happens, seen from a request.
    enum Moment: String, Sendable {
        case before, then
    }

    let deed: Deed
    /// `self` (the user of the token), `other`, `nobody`, or a user's id or name.
    let author: String
    /// An id or a name; `nil` for the project that a request is about, else the first one.
    let project: String?
    /// Where a project goes: a team's slug or id, or `personal`.
    let team: String?
    /// Which variable, with ``id``, ``targets`` and ``gitBranch`` where several have the key.
    let key: String?
    let id: String?
    /// The whole scope of the variable: the three environments, and custom ones by slug or id.
    let targets: [String]?
    let gitBranch: String?
    let value: String?
    let type: VariableType?
    let comment: String?
    let newKey: String?
    let newTargets: [String]?
    /// The act as it is written, without values.
    let text: String

    private static let names: Set<String> = [
        "by", "project", "team", "key", "id", "targets", "gitBranch", "value", "type", "comment",
        "newKey", "newTargets",
    ]

    /// Reads the members of a JSON object; `act` names the deed.
    init(_ fields: Fields) throws(APIError) {
        try fields.allow(only: Self.names.union(["act"]))
        let word = try fields.requiredString("act")
        guard let deed = Deed(rawValue: word) else { throw .badRequest("No act: \(word)") }
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
                throw .badRequest("No type: \(word)")
            }
            return type
        }
        comment = try fields.string("comment")
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

    /// Complains about members that do not make a deed.
    private func checkMembers() throws(APIError) {
        let isComplete =
            switch deed {
            case .set:
                (key ?? id) != nil
                    && (value != nil || type != nil || comment != nil || newKey != nil
                        || newTargets != nil)
            case .touch, .remove: (key ?? id) != nil
            case .create: key != nil && value != nil
            case .moveProject: team != nil
            case .removeProject, .recreateProject: true
            }
        guard isComplete else { throw .badRequest("The act \(deed.rawValue) lacks members.") }
    }

    /// Reads `DEED[,NAME=VALUE…]`, percent-encoded, lists with `+` between their elements; `nil` for
    /// anything else.
    package init?(_ text: String) {
        guard let arguments = Arguments(text, names: Self.names) else { return nil }
        var members: [String: JSONValue] = ["act": .string(arguments.first)]
        for (name, value) in arguments.named {
            members[name] =
                ["targets", "newTargets"].contains(name)
                ? JSONValue(value.split(separator: "+").map(String.init)) : .string(value)
        }
        guard let act = try? Act(Fields(.members(members))) else { return nil }
        self = act
    }
}
