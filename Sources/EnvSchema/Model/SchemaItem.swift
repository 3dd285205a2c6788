/// What a schema says of one variable.
package struct SchemaItem: Sendable, Equatable {
    package let key: String
    /// Of the key, counted from 1.
    package var line: Int
    /// The imported file that declares it, as the import writes it; nil for the schema itself.
    package var path: String?
    package var requirement = SchemaRequirement.never
    /// Nil if the notation does not say.
    package var isSensitive: Bool?
    /// What decided ``isSensitive``; nil in notations that have one rule for all.
    package var sensitivitySource: SensitivitySource?
    /// Nil if the notation has no types.
    package var type: ValueType?
    /// The type comes from the form of the default and is not written.
    package var typeIsInferred = false
    package var value = DeclaredValue.none
    package var description: String?
    /// Shown in messages, never used as a value.
    package var example: String?
    package var documentation: [SchemaLink] = []
    package var deprecation: SchemaDeprecation?
    /// Only used to fetch other secrets, so not expected on Vercel.
    package var isInternal = false
    package var groups: [SchemaGroup] = []
}

/// Where a variable must be present.
package enum SchemaRequirement: Sendable, Equatable {
    case always
    case never
    /// In the environments with these names, and nowhere else.
    case environments([String])
    /// Everywhere but in the environments with these names.
    case exceptEnvironments([String])
    /// A function decides, which is not executed; never required here.
    case depends
}

/// What decided whether a variable is sensitive. Only a written statement may change a type on
/// Vercel; ``implicit`` must not.
package enum SensitivitySource: String, Sendable {
    /// A decorator of the item.
    case item
    /// `@defaultSensitive` of the file.
    case file
    /// `@defaultSensitive=inferFromPrefix(…)`.
    case prefix
    /// A function that always makes secrets.
    case function
    /// `@proxy(…)` of the item.
    case proxy
    /// Nothing written: the notation's default.
    case implicit
}

/// What stands behind the name.
package enum DeclaredValue: Sendable, Equatable {
    case none
    /// A literal, which may be empty.
    case `default`(String)
    /// Text that only shows what belongs there. Counts as no value.
    case placeholder(String)
    /// The outermost function, which some other tool evaluates.
    case function(String)
}

/// A link to documentation.
package struct SchemaLink: Sendable, Equatable {
    package var url: String
    package var text: String?
}

/// That a variable should no longer be used.
package struct SchemaDeprecation: Sendable, Equatable {
    /// What to do instead, if the file says so.
    package var advice: String?
}

/// A group of variables of which some must be present.
package struct SchemaGroup: Sendable, Equatable, Hashable {
    package enum Rule: String, Sendable {
        case atLeastOne, exactlyOne
    }

    package var rule: Rule
    package var name: String
}
