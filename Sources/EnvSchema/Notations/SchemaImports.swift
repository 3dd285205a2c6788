/// Gives the files that a schema imports. The reader itself opens nothing.
package protocol SchemaImports {
    /// Returns an imported file, or nil if it is not there or must not be read.
    ///
    /// The caller confines the access: to the repository, through no link that leads out of it, to
    /// regular files of at most ``SchemaReader/maximumSize``. The reader asks only for paths that
    /// start with `./` or `../` and whose last part starts with `.env.`, and for at most
    /// ``SchemaReader/maximumImports`` files.
    ///
    /// - Parameters:
    ///   - path: As the schema writes it, relative to the importing file. Hostile.
    ///   - importer: The identity of the importing file; nil for the schema itself.
    func file(at path: String, importedFrom importer: String?) -> SchemaImport?
}

/// An imported file.
package struct SchemaImport: Sendable {
    package var text: [UInt8]
    /// The same for the same file, such as its path in the repository, so that a circle is noticed.
    package var identity: String

    package init(text: [UInt8], identity: String) {
        self.text = text
        self.identity = identity
    }
}

/// Follows no import.
package struct NoSchemaImports: SchemaImports {
    package init() {}

    package func file(at path: String, importedFrom importer: String?) -> SchemaImport? { nil }
}
