internal import JSON
package import Sealing

/// A variable to be made.
package struct NewEnvironmentVariable {
    /// The variable's name.
    package var key: String
    /// The value; valid UTF-8.
    package var value: SecretSlice
    /// How the platform is to keep the value.
    package var type: EnvironmentVariable.Kind
    /// What it is for.
    package var targets: [EnvironmentVariable.Target]
    /// The only branch it is for; with the target preview alone.
    package var gitBranch: String?
    /// The custom environments it is for.
    package var customEnvironmentIds: [String]
    /// A note, at most 500 characters.
    package var comment: String?

    /// Describes a variable. Nothing is checked yet.
    package init(
        key: String, value: SecretSlice, type: EnvironmentVariable.Kind = .encrypted,
        targets: [EnvironmentVariable.Target], gitBranch: String? = nil,
        customEnvironmentIds: [String] = [], comment: String? = nil
    ) {
        self.key = key
        self.value = value
        self.type = type
        self.targets = targets
        self.gitBranch = gitBranch
        self.customEnvironmentIds = customEnvironmentIds
        self.comment = comment
    }

    func write(to json: inout GuardedJSONWriter) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            try json.member("key", key)
            try json.member("value", value)
            try json.member("type", type.rawValue)
            if !targets.isEmpty { try json.member("target", targets.map(\.rawValue)) }
            if !customEnvironmentIds.isEmpty {
                try json.member("customEnvironmentIds", customEnvironmentIds)
            }
            if let gitBranch { try json.member("gitBranch", gitBranch) }
            if let comment { try json.member("comment", comment) }
        }
    }
}

/// What to change of a variable. Members left nil stay as they are.
package struct EnvironmentVariableChange {
    /// The new name. Leave it out for sensitive variables.
    package var key: String?
    /// The new value.
    package var value: SecretSlice?
    /// How the platform is to keep the value.
    package var type: EnvironmentVariable.Kind?
    /// All targets from then on; the platform replaces the whole list.
    package var targets: [EnvironmentVariable.Target]?
    /// The only branch; an inner nil makes it one for all branches.
    package var gitBranch: String??
    /// All custom environments from then on.
    package var customEnvironmentIds: [String]?
    /// The note; empty for none.
    package var comment: String?

    /// Describes no change.
    package init() {}

    func write(to json: inout GuardedJSONWriter) throws(OutputError) {
        try json.object { (json) throws(OutputError) in
            if let key { try json.member("key", key) }
            if let value { try json.member("value", value) }
            if let type { try json.member("type", type.rawValue) }
            if let targets { try json.member("target", targets.map(\.rawValue)) }
            if let customEnvironmentIds {
                try json.member("customEnvironmentIds", customEnvironmentIds)
            }
            if let gitBranch {
                try json.name("gitBranch")
                if let gitBranch { try json.string(gitBranch) } else { try json.null() }
            }
            if let comment { try json.member("comment", comment) }
        }
    }
}

/// What became of variables that were sent together.
package struct EnvironmentVariableBatch: Sendable, Equatable {
    /// Those that were made or, where that was asked for, changed. Their values are not in here.
    package let created: [EnvironmentVariable]
    /// Those that were refused.
    package let failed: [FailedVariable]
}
