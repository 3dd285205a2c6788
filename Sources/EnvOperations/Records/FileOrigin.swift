internal import Sealing
package import Vault

/// Where the values of a `.env` file belong, as far as its first lines, its name and its writer
/// tell.
package struct FileOrigin: Equatable, Sendable {
    /// The target of a file.
    package enum Target: Equatable, Sendable {
        /// The values belong here and nowhere else.
        case scope(Scope)
        /// The file is for tests, and there is no target for them.
        case test
        /// The file names an environment that the project does not have.
        case unknown(String)
        /// Nothing names a target.
        case unnamed
    }

    /// What names the target. The raw value is for scripts.
    package enum Evidence: String, Sendable {
        case header
        case fileName = "file-name"
        case vercelCLI = "vercel-cli"
    }

    package let target: Target
    /// nil if nothing names a target.
    package let evidence: Evidence?
    /// Whether Vercel's CLI wrote the file.
    package let isFromVercelCLI: Bool

    /// Looks at a file, in this order: a line `# vercel-env: target=…` at its start, its name, and
    /// whether Vercel's CLI wrote it.
    ///
    /// - Parameters:
    ///   - path: nil for standard input.
    ///   - isVercelDialect: Whether the file is parsed as one of Vercel's CLI.
    ///   - environments: The custom environments of the project.
    package init(
        path: String?, _ source: RawSpan, isVercelDialect: Bool, environments: Set<String>
    ) {
        let header = Header(source)
        isFromVercelCLI =
            header.isOfVercelCLI || isVercelDialect
            || path.map(Self.isInVercelDirectory) ?? false
        if let name = header.target {
            target = Self.target(named: name, branch: header.branch, knows: Self.isSlug)
            evidence = .header
            return
        }
        let named = path.map { Self.target(ofFile: $0, environments) } ?? .unnamed
        if named == .unnamed, isFromVercelCLI {
            (target, evidence) = (.scope(Scope(targets: .development)), .vercelCLI)
        } else {
            (target, evidence) = (named, named == .unnamed ? nil : .fileName)
        }
    }

    // MARK: First lines

    /// The comments of Vercel's CLI at the start of a file.
    private struct Header {
        var isOfVercelCLI = false
        var target: String?
        var branch: String?

        init(_ source: RawSpan) {
            var start = source.starts(with: "\u{FEFF}") ? 3 : 0
            for _ in 0..<2 {
                // Only a comment may leave guarded memory.
                guard start < source.byteCount, source.byte(at: start) == 0x23 else { return }
                var line: [UInt8] = []
                while start < source.byteCount, line.count < 4_096 {
                    let byte = source.byte(at: start)
                    start += 1
                    if byte == 0x0A { break }
                    line.append(byte)
                }
                let words = String(decoding: line, as: UTF8.self).split { $0.isWhitespace }
                if words == ["#", "Created", "by", "Vercel", "CLI"] {
                    isOfVercelCLI = true
                } else if words.starts(with: ["#", "vercel-env:"]) {
                    isOfVercelCLI = true
                    for word in words {
                        if word.hasPrefix("target=") { target = String(word.dropFirst(7)) }
                        if word.hasPrefix("gitBranch=") { branch = String(word.dropFirst(10)) }
                    }
                    return
                } else {
                    return
                }
            }
        }
    }

    // MARK: Names

    /// Returns whether a path is one of those that `vercel pull` writes: `.vercel/.env.TARGET.local`.
    private static func isInVercelDirectory(_ path: String) -> Bool {
        let parts = path.split(separator: "/")
        return parts.count > 1 && parts[parts.count - 2] == ".vercel"
            && parts[parts.count - 1].hasPrefix(".env.")
    }

    private static func target(
        named name: String, branch: String? = nil, knows: (String) -> Bool
    ) -> Target {
        if let target = Scope.Targets(name: name) {
            let branch = target == .preview ? branch.flatMap { $0.isEmpty ? nil : $0 } : nil
            return .scope(Scope(targets: target, branch: branch))
        }
        return knows(name)
            ? .scope(Scope(targets: [], customEnvironments: [name])) : .unknown(name)
    }

    /// Returns whether Vercel could have given this name to a custom environment.
    private static func isSlug(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0)
                    || (0x41...0x5A).contains($0) || $0 == 0x2D || $0 == 0x5F
            }
    }

    /// Returns the target that a file's name names, such as `.env.production.local` or `dev.env`.
    private static func target(ofFile path: String, _ environments: Set<String>) -> Target {
        var base = path.split(separator: "/").last.map { String($0) } ?? path
        if base.hasPrefix(".env-") || base.hasPrefix(".env_") { base = ".env.\(base.dropFirst(5))" }
        var words = base.split(separator: ".").map { String($0) }
        let isLocal = words.last == "local" || words == ["local", "env"]
        guard let place = words.firstIndex(of: "env") else {
            return isLocal ? .scope(Scope(targets: .development)) : .unnamed
        }
        // In `.env.staging` the word is an environment, in `web.env` it may be anything.
        let isNamed = place == 0 && base.hasPrefix(".")
        words.remove(at: place)
        words.removeAll { ["local", "json", "yaml", "yml"].contains($0) }
        var found: [Target] = []
        var isClear = true
        for word in words {
            guard let target = target(ofWord: word, environments) else {
                // `.env.production.example` is an example, and `.env.preview.feat` of a branch.
                isClear = false
                continue
            }
            if !found.contains(target) { found.append(target) }
        }
        if found.count == 1, isClear || !isNamed { return found[0] }
        if !found.isEmpty { return .unknown(words.joined(separator: ".")) }
        if isLocal { return .scope(Scope(targets: .development)) }
        return isNamed && !words.isEmpty ? .unknown(words.joined(separator: ".")) : .unnamed
    }

    private static func target(ofWord word: String, _ environments: Set<String>) -> Target? {
        if environments.contains(word) {
            return .scope(Scope(targets: [], customEnvironments: [word]))
        }
        switch word.lowercased() {
        case "production", "prod": return .scope(Scope(targets: .production))
        case "preview": return .scope(Scope(targets: .preview))
        case "development", "dev": return .scope(Scope(targets: .development))
        case "test", "testing": return .test
        default: return nil
        }
    }
}
