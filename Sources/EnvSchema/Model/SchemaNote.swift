/// Something in a schema that has no effect here, or not the one its author may expect.
package struct SchemaNote: Sendable, Hashable {
    package enum Code: String, Sendable, CaseIterable {
        // Decorated files.
        case badDecoratorName = "bad-decorator-name"
        case badTypeOptions = "bad-type-options"
        case badValue = "bad-value"
        case bulkNotLoaded = "bulk-not-loaded"
        case codegenIgnored = "codegen-ignored"
        case conflictingDecorators = "conflicting-decorators"
        case defaultInvalid = "default-invalid"
        case deprecatedDecorator = "deprecated-decorator"
        case deprecatedRegex = "deprecated-regex"
        case detachedDecorator = "detached-decorator"
        case duplicateDecorator = "duplicate-decorator"
        case duplicateKey = "duplicate-key"
        case dynamicDisable = "dynamic-disable"
        case dynamicOption = "dynamic-option"
        case dynamicRequired = "dynamic-required"
        case dynamicSensitive = "dynamic-sensitive"
        case dynamicType = "dynamic-type"
        case environmentKeyMissing = "env-key-missing"
        case fileDisabled = "file-disabled"
        case functionValue = "function-value"
        case importNotFollowed = "import-not-followed"
        case keyNotPortable = "key-not-portable"
        case misplacedDecorator = "misplaced-decorator"
        case noCurrentEnvironment = "no-current-env"
        case placeholderLike = "placeholder-like"
        case pluginNotLoaded = "plugin-not-loaded"
        case proseDecorator = "prose-decorator"
        case regexUnsupported = "regex-unsupported"
        case secretInSchema = "secret-in-schema"
        case strayText = "stray-text"
        case unknownDecorator = "unknown-decorator"
        case unknownOption = "unknown-option"
        case unknownType = "unknown-type"
        // Example files.
        case commentedName = "commented-name"
        case lineIgnored = "line-ignored"
        case regexLike = "regex-like"
        // secretspec.toml.
        case asPath = "as-path"
        case extendsNotFollowed = "extends-not-followed"
        case generateNoted = "generate-noted"
        case groupRequired = "group-required"
        case noDescription = "no-description"
        case profileDefault = "profile-default"
        case profileUnmapped = "profile-unmapped"
        case providerIgnored = "provider-ignored"
        case revisionUnknown = "revision-unknown"
        case scopesNotApplied = "scopes-not-applied"
        case storedFormIgnored = "stored-form-ignored"
        case unknownField = "unknown-field"
        // Of a check, which knows the targets.
        case environmentNameUnmapped = "env-name-unmapped"

        /// Whether the note only informs; all others warn, because something that the author wrote
        /// has no effect.
        package var isInformation: Bool {
            switch self {
            case .functionValue, .codegenIgnored, .commentedName, .generateNoted, .providerIgnored,
                .groupRequired, .profileDefault:
                true
            default: false
            }
        }
    }

    package var code: Code
    /// The variable that it is about.
    package var key: String?
    /// The decorator of the header that it is about, without `@`. Never set with ``key``.
    package var decorator: String?
    /// What it is about, if the key or decorator does not say it: the decorator of an item, an
    /// unknown type or option, the path of an import, or a plugin. As the file writes it, so it may
    /// contain anything; never a value.
    package var subject: String?
    /// Counted from 1; 0 if it is about the whole file.
    package var line: Int
    /// The imported file with the line, as its import writes it; nil in the schema itself.
    package var path: String?

    package init(
        _ code: Code, key: String? = nil, decorator: String? = nil, line: Int, path: String? = nil
    ) {
        self.code = code
        self.key = key
        self.decorator = decorator
        self.line = line
        self.path = path
    }
}
