internal import SystemFiles

extension PlaceAddress {
    /// Returns the address of the origin of a work tree, for the place `.`.
    ///
    /// Only the file with the repository's configuration is read, and git runs in another directory,
    /// so nothing that the repository configures has an effect.
    ///
    /// - Parameters:
    ///   - directory: An absolute path in the work tree.
    ///   - own: A directory of our own, in which git runs.
    package static func ofOrigin(
        of directory: String, runningIn own: String, _ environment: GitEnvironment
    ) throws(PlaceError) -> PlaceAddress {
        guard let (tree, configuration) = configuration(above: directory) else {
            throw PlaceError(
                .invalidAddress,
                "This directory is not in a git work tree, so there is no origin. Give the URL of"
                    + " a repository, or a directory.")
        }
        let result = try GitProgram(in: own, nil, environment).run(
            [
                "config", "--file", configuration, "--no-includes", "-z", "--get",
                "remote.origin.url",
            ], longestOutput: 64 << 10)
        let text = String(decoding: result.output.prefix { $0 != 0 }, as: UTF8.self)
        guard result.isDone, !text.isEmpty else {
            throw PlaceError(
                .invalidAddress,
                "The repository has no remote origin. Give the URL of a repository, or a directory."
            )
        }
        let address = try parse(text, relativeTo: tree)
        guard address.kind != .directory else {
            throw PlaceError(.invalidAddress, "The repository's origin is not a bare repository.")
        }
        return address
    }

    /// Finds the work tree around a directory, and the file with its repository's configuration.
    private static func configuration(above directory: String) -> (tree: String, file: String)? {
        var parts = directory.split(separator: "/")
        while true {
            let tree = "/" + parts.joined(separator: "/")
            let mark = "\(tree)/.git"
            if let facts = try? FileFacts(mark) {
                guard let folder = facts.kind == .directory ? mark : linked(mark, in: tree) else {
                    return nil
                }
                // The folder of a further work tree names that of the repository.
                let common = line(of: "\(folder)/commondir").map { absolute($0, in: folder) }
                let file = "\(common ?? folder)/config"
                // A pipe would never end.
                guard (try? FileFacts(file))?.kind == .regular else { return nil }
                return (tree, file)
            }
            guard parts.popLast() != nil else { return nil }
        }
    }

    private static func linked(_ mark: String, in tree: String) -> String? {
        guard let line = line(of: mark), line.hasPrefix("gitdir: ") else { return nil }
        return absolute(String(line.dropFirst("gitdir: ".count)), in: tree)
    }

    private static func line(of path: String) -> String? {
        guard (try? FileFacts(path))?.kind == .regular,
            let bytes = OpenFile.wholeBytes(of: path, limit: 4_096)
        else { return nil }
        return String(validating: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    private static func absolute(_ path: String, in directory: String) -> String {
        path.hasPrefix("/") ? path : "\(directory)/\(path)"
    }
}
