package import Sealing

/// A variable of a project as Vercel lists it, without its value.
package struct EnvironmentVariable: Decodable, Sendable, Equatable {
    /// The variable type, which decides how Vercel stores the value.
    package struct Kind: OpenText {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Plain text, part of every list.
        package static var plain: Self { Self(rawValue: "plain") }
        /// Encrypted, readable one by one.
        package static var encrypted: Self { Self(rawValue: "encrypted") }
        /// Encrypted, not readable again.
        package static var sensitive: Self { Self(rawValue: "sensitive") }
        /// The name of a variable that Vercel sets.
        package static var system: Self { Self(rawValue: "system") }
    }

    package struct Target: OpenText {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        package static var production: Self { Self(rawValue: "production") }
        /// Deployments of branches.
        package static var preview: Self { Self(rawValue: "preview") }
        /// Local development.
        package static var development: Self { Self(rawValue: "development") }
    }

    /// The id of the record.
    package let id: String
    package let key: String
    /// The type; sensitive for every variable that Vercel calls a Secret, whatever its own type.
    package let type: Kind
    /// The targets; empty if it only applies to custom environments.
    package let targets: [Target]
    /// The only git branch it applies to.
    package let gitBranch: String?
    package let customEnvironmentIds: [String]
    package let comment: String?
    package let createdAt: APITime?
    package let updatedAt: APITime?
    /// The id of the user who created it.
    package let createdBy: String?
    /// The id of the user who last changed it.
    package let updatedBy: String?
    /// The display name of the user who last changed it, if Vercel reports it.
    package let editorName: String?
    /// Whether the response says that its value is plain text; false means ciphertext.
    package let isDecrypted: Bool?
    /// Whether Vercel created it.
    package let isSystem: Bool
    /// What an integration of Vercel's says that it put there, such as `integration-store-secret`; nil
    /// for a variable that belongs to the project alone.
    package let integration: String?

    /// Decodes a record, skipping the value.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.text("id") ?? object.requiredText("uid")
        key = try object.requiredText("key")
        let stored = Kind(rawValue: object.text("type") ?? "unknown")
        let isSecret = object.text("visibility") == "secret"
        type = isSecret && [.plain, .encrypted].contains(stored) ? .sensitive : stored
        targets = (object.texts("target") ?? []).map { Target(rawValue: $0) }
        gitBranch = object.text("gitBranch")
        customEnvironmentIds = object.texts("customEnvironmentIds") ?? []
        comment = object.text("comment")
        createdAt = object.time("createdAt")
        updatedAt = object.time("updatedAt")
        createdBy = object.text("createdBy")
        updatedBy = object.text("updatedBy")
        editorName = object.text("lastEditedByDisplayName")
        isDecrypted = object.bool("decrypted")
        isSystem = object.bool("system") ?? false
        // A hint in another form is one too.
        integration = object.object("contentHint").map {
            String(($0.text("type") ?? "unknown").prefix(64))
        }
    }

    /// Returns whether the `value` member of a response can be the value itself.
    ///
    /// For all but plain variables, lists contain ciphertext even if they claim otherwise. The
    /// member of a sensitive variable is never its value.
    func isValueReadable(inList: Bool) -> Bool {
        switch type {
        case .plain, .system: true
        case .sensitive: false
        default: !inList && isDecrypted != false
        }
    }
}

extension EnvironmentVariable: ListElement {
    static var listNames: [JSONKey] { ["envs", "env"] }
    static var hiddenCountName: JSONKey? { "hiddenProductionEnvCount" }
}

/// A variable with its value, if Vercel shows it.
package struct ReadEnvironmentVariable {
    package let variable: EnvironmentVariable
    /// The value; nil if Vercel does not show it, as opposed to an empty value.
    package let value: SecretSlice?
}
