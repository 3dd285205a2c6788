package import Sealing

/// A variable of a project as the platform lists it: everything but its value.
package struct EnvironmentVariable: Decodable, Sendable, Equatable {
    /// How the platform keeps the value.
    package struct Kind: OpenText {
        /// The platform's own word.
        package let rawValue: String
        /// Wraps the platform's own word.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// In clear text, in every list.
        package static var plain: Self { Self(rawValue: "plain") }
        /// Encrypted, readable one by one.
        package static var encrypted: Self { Self(rawValue: "encrypted") }
        /// Encrypted, never readable again.
        package static var sensitive: Self { Self(rawValue: "sensitive") }
        /// The name of a variable that the platform sets.
        package static var system: Self { Self(rawValue: "system") }
        /// A reference to a secret of the old kind.
        package static var secret: Self { Self(rawValue: "secret") }
    }

    /// What a variable is for.
    package struct Target: OpenText {
        /// The platform's own word.
        package let rawValue: String
        /// Wraps the platform's own word.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Production deployments.
        package static var production: Self { Self(rawValue: "production") }
        /// Deployments of branches.
        package static var preview: Self { Self(rawValue: "preview") }
        /// Local development.
        package static var development: Self { Self(rawValue: "development") }
    }

    /// The id of the record.
    package let id: String
    /// The variable's name.
    package let key: String
    /// How the platform keeps the value.
    package let type: Kind
    /// What it is for; empty if it is for custom environments only.
    package let targets: [Target]
    /// The only branch it is for.
    package let gitBranch: String?
    /// The custom environments it is for.
    package let customEnvironmentIds: [String]
    /// A note.
    package let comment: String?
    /// When it was made.
    package let createdAt: APITime?
    /// When it was changed last.
    package let updatedAt: APITime?
    /// Who made it.
    package let createdBy: String?
    /// Who changed it last.
    package let updatedBy: String?
    /// What the platform calls whoever changed it last, where it says.
    package let editorName: String?
    /// What the answer says about its value: true for clear text, false for ciphertext.
    package let isDecrypted: Bool?
    /// Whether the platform made it.
    package let isSystem: Bool
    /// The integration it comes from.
    package let configurationId: String?

    /// Reads a record. The value is passed over.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.text("id") ?? object.requiredText("uid")
        key = try object.requiredText("key")
        type = Kind(rawValue: object.text("type") ?? "unknown")
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
        configurationId = object.text("configurationId")
    }

    /// Whether the `value` member of an answer can be the value itself.
    ///
    /// Lists hold ciphertext whatever they say of it, for all but plain variables; and what a
    /// sensitive one shows is never its value.
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
}

/// A variable with its value, where the platform shows it.
package struct ReadEnvironmentVariable {
    /// Everything but the value.
    package let variable: EnvironmentVariable
    /// The value; nil if the platform does not show it, which an empty value is not.
    package let value: SecretSlice?
}
