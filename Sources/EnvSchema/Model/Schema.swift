/// The variables that a file declares for a project: names, and what the file says of each.
///
/// A schema says what must exist, never what it is: nothing in it is executed, fetched, stored or
/// given to a program.
package struct Schema: Sendable, Equatable {
    /// How a schema is written.
    package enum Notation: String, Sendable, CaseIterable {
        /// `.env` lines with decorators in comments.
        case envSpec = "env-spec"
        /// An example file, which declares names alone.
        case plain
        /// secretspec.toml.
        case secretspec
    }

    package var notation: Notation
    /// In the order of the file, then those of its imports. Each key occurs once.
    package var items: [SchemaItem] = []
    /// In the order of their lines, then those of imports. At most 10,000.
    package var notes: [SchemaNote] = []
    /// The item that holds the name of the environment (`@currentEnv`), even if it is not declared.
    package var environmentKey: String?
    /// The profile that was read; secretspec only. Nil where no profile stands for the target.
    package var profile: String?
}

/// Why a file could not be read as a schema.
package struct SchemaError: Error, Equatable {
    package enum Code: String, Sendable {
        /// A line that the notation does not have.
        case syntax = "schema-syntax"
        /// A secretspec.toml without a profile.
        case noProfile = "schema-no-profile"
        /// Longer than ``SchemaReader/maximumSize``, or more than 100,000 items.
        case tooLong = "schema-too-long"
        /// Not UTF-8, or it contains a NUL.
        case notText = "schema-not-text"
    }

    package var code: Code
    /// Counted from 1; nil if the error is of the whole file.
    package var line: Int?
    /// The imported file with the error, as its import writes it; nil in the schema itself.
    package var path: String?

    package init(_ code: Code, line: Int? = nil, path: String? = nil) {
        self.code = code
        self.line = line
        self.path = path
    }
}
