internal import SystemFiles

extension RealPath {
    /// Resolves the existing part of a path and appends the rest.
    static func ofMissing(_ path: String) -> String? {
        if let real = of(path) { return real }
        guard !FileKind.isTaken(path), let above = above(path), let real = ofMissing(above) else {
            return nil
        }
        let names = path.utf8.dropFirst(above.utf8.count).split(separator: 0x2F)
        guard let name = names.first.map({ String(decoding: $0, as: UTF8.self) }) else {
            return real
        }
        guard name != "..", name != "." else { return nil }
        return joined(real, name)
    }

    /// Returns the path of a name in a directory.
    static func joined(_ directory: String, _ name: some StringProtocol) -> String {
        directory == "/" ? "/\(name)" : "\(directory)/\(name)"
    }

    /// Returns the parent directory of an absolute path; nil for the root.
    static func above(_ path: String) -> String? {
        guard path != "/", let slash = path.utf8.lastIndex(of: 0x2F) else { return nil }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Whether `path` is `directory` or below it. Both must be free of links.
    static func isWithin(_ path: String, _ directory: String) -> Bool {
        path.utf8.elementsEqual(directory.utf8)
            || path.utf8.starts(with: (directory == "/" ? "/" : directory + "/").utf8)
    }
}
