/// The objects in the tree of a commit.
struct GitListing {
    struct Blob: Equatable {
        /// git's name of the blob, in hexadecimal digits.
        let name: String
        /// In bytes; nil if our copy lacks the blob.
        let size: Int?
    }

    private(set) var blobs: [ObjectPath: Blob] = [:]
    /// Paths of objects at which there are links, submodules or folders.
    private(set) var unusable: Set<ObjectPath> = []

    var paths: Set<ObjectPath> { unusable.union(blobs.keys) }

    init() {}

    /// Parses the output of `git ls-tree -r -l -z`: mode, type, name and size, a tab, the path, NUL.
    init(_ output: [UInt8]) {
        for line in output.split(separator: 0) {
            guard let tab = line.firstIndex(of: 0x09),
                let path = ObjectPath(bytes: line[line.index(after: tab)...])
            else { continue }
            let words = line[..<tab].split(separator: 0x20).map {
                String(decoding: $0, as: UTF8.self)
            }
            guard words.count == 4 else { continue }
            // Regular files, executable or not.
            if words[1] == "blob", words[0].hasPrefix("100") {
                blobs[path] = Blob(name: words[2], size: Int(words[3]))
            } else {
                unusable.insert(path)
            }
        }
    }
}
