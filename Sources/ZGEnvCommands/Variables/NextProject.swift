internal import JSON
internal import SystemFiles

/// Whether a directory is a project of Next.js, which expands references in `.env` files.
enum NextProject {
    /// Returns whether the `package.json` next to a file, or in the working directory, depends on
    /// `next`. One that cannot be read does not.
    static func contains(_ path: String, _ context: Context) -> Bool {
        let parts = context.absolute(path).split(separator: "/").dropLast()
        return dependsOnNext("/" + parts.joined(separator: "/"), context)
            || dependsOnNext(context.workingDirectory, context)
    }
}

extension NextProject {
    private static func dependsOnNext(_ directory: String, _ context: Context) -> Bool {
        guard let bytes = SmallFile.bytes("\(directory == "/" ? "" : directory)/package.json"),
            let package = try? JSONValue(parsing: bytes)
        else { return false }
        return ["dependencies", "devDependencies", "peerDependencies"].contains {
            package[$0]?["next"] != nil
        }
    }
}
