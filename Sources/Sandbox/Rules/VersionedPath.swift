/// Paths of the API, which are the same in every version.
enum VersionedPath {
    /// Returns the parts of a path after its version and `now`.
    static func resource(_ segments: [String]) -> [String] {
        var rest = segments[...]
        if let first = rest.first, isVersion(first) { rest = rest.dropFirst() }
        if rest.first == "now" { rest = rest.dropFirst() }
        return Array(rest)
    }

    private static func isVersion(_ text: some StringProtocol) -> Bool {
        text.hasPrefix("v") && text.count > 1
            && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Returns where the path without its version begins, or `nil` without a version.
    static func versionEnd(of path: [Character]) -> Int? {
        guard path.first == "/", let slash = path.dropFirst().firstIndex(of: "/"),
            isVersion(String(path[1..<slash]))
        else { return nil }
        return slash
    }
}
