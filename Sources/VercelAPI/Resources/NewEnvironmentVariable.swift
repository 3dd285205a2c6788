internal import JSON
package import Sealing

/// A variable to create.
package struct NewEnvironmentVariable {
    package var key: String
    /// The value; valid UTF-8.
    package var value: SecretSlice
    package var type: EnvironmentVariable.Kind
    package var targets: [EnvironmentVariable.Target]
    /// The only git branch it applies to; requires preview as the only target.
    package var gitBranch: String?
    package var customEnvironmentIds: [String]
    /// A comment, at most 500 characters.
    package var comment: String?

    /// Creates a description without checking it.
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

/// A change of a variable. Nil members stay unchanged.
package struct EnvironmentVariableChange {
    /// The new name. Must be nil for sensitive variables.
    package var key: String?
    package var value: SecretSlice?
    package var type: EnvironmentVariable.Kind?
    /// All targets; replaces the whole list.
    package var targets: [EnvironmentVariable.Target]?
    /// The only git branch; an inner nil removes it.
    package var gitBranch: String??
    /// All custom environments; replaces the whole list.
    package var customEnvironmentIds: [String]?
    /// The comment; empty removes it.
    package var comment: String?

    /// Creates an empty change.
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

/// The result of sending several variables in one request.
package struct EnvironmentVariableBatch: Sendable, Equatable {
    /// Those that were created or, for an upsert, changed. Without values.
    package let created: [EnvironmentVariable]
    /// Those that Vercel rejected.
    package let failed: [FailedVariable]
}
