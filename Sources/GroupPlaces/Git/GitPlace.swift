internal import Glibc
package import Groups
internal import SystemFiles

/// A git repository. Each group is one ref, and the objects of the group are files in the tree of
/// its newest commit. git's rule that a push must continue the ref's commit orders all publishes.
///
/// Hosts that reject other refs get a branch, whose tree has a file that tells Vercel not to deploy
/// it. Which of the two a group has, the repository shows.
package final class GitPlace: GroupPlace {
    let remote: GitRemote
    let repository: GitRepository
    /// What the place had when this object last looked. The inner nil: no such group.
    var heads: [GroupHash: GitRemote.Head?] = [:]
    /// Whether the host rejected a ref outside of branches.
    var usesBranches = false
    /// The last listing, and its commit.
    private var listing: (commit: String, objects: GitListing)?
    /// How long to retry while others publish.
    let patience: Duration
    /// Each branch is fetched to learn its group.
    private static let mostBranches = 100

    /// - Parameters:
    ///   - address: Not a directory.
    ///   - directory: An existing directory of our own, for a copy of the place.
    ///   - patience: How long to retry while others publish.
    package init(
        _ address: PlaceAddress, copyIn directory: String, _ environment: GitEnvironment,
        patience: Duration = .seconds(60)
    ) {
        let name = GroupHash(of: Array(address.text.utf8)).hexadecimal.prefix(32)
        repository = GitRepository(in: directory, String(name), environment)
        remote = GitRemote(address, repository.program(for: address))
        self.patience = patience
    }

    // MARK: - Reading

    package func groups() throws(PlaceError) -> [GroupHash] {
        try repairing { lock throws(PlaceError) in
            let heads = try remote.heads([GitRemote.customRefs + "*", GitRemote.branches + "*"])
            var groups: Set<GroupHash> = []
            for head in heads where head.ref.hasPrefix(GitRemote.customRefs) {
                let digits = head.ref.dropFirst(GitRemote.customRefs.count)
                if let group = GroupHash(hexadecimal: digits) { groups.insert(group) }
            }
            let branches = heads.filter { $0.ref.hasPrefix(GitRemote.branches) }
            for head in branches.prefix(Self.mostBranches) {
                // The group's id is the hash of its first entry.
                let own = GroupHash(of: Array(head.ref.utf8))
                if repository.fetchedCommit(of: own) != head.commit {
                    try fetch(head, of: own)
                }
                guard let commit = repository.fetchedCommit(of: own) else { continue }
                let listing = try repository.listing(of: commit, lock)
                if let blob = listing.blobs[.entry(1)], let size = blob.size,
                    size <= ObjectPath.entry(1).limit,
                    let entry = try repository.read([blob.name], sizes: [size], lock).first
                {
                    let group = GroupHash(of: entry)
                    if GitRemote.branch(of: group) == head.ref { groups.insert(group) }
                }
            }
            return groups.sorted()
        }
    }

    package func refresh(
        _ group: GroupHash, since token: String?
    ) throws(PlaceError) -> PlaceRefresh {
        let commit = try repairing { lock throws(PlaceError) in
            try update(group, lock)
            return presentCommit(of: group) ?? "none"
        }
        return PlaceRefresh(hasChanged: commit != token, token: commit)
    }

    package func paths(of group: GroupHash) throws(PlaceError) -> Set<ObjectPath> {
        try repairing { lock throws(PlaceError) in
            try presentListing(of: group, lock).paths
        }
    }

    package func read(
        _ paths: [ObjectPath], of group: GroupHash, upTo limit: Int
    ) throws(PlaceError) -> PlaceReading {
        try repairing { lock throws(PlaceError) in
            let listing = try presentListing(of: group, lock)
            return try read(paths, listing, upTo: limit, lock)
        }
    }

    func read(
        _ paths: [ObjectPath], _ listing: GitListing, upTo limit: Int, _ lock: FileLock
    ) throws(PlaceError) -> PlaceReading {
        var reading = PlaceReading()
        var (wanted, names, sizes, total) = ([ObjectPath](), [String](), [Int](), 0)
        for (index, path) in paths.enumerated() {
            guard total < limit else {
                reading.remaining = Array(paths[index...])
                break
            }
            if let blob = listing.blobs[path], let size = blob.size, size <= path.limit {
                wanted.append(path)
                names.append(blob.name)
                sizes.append(size)
                total += size
            } else if listing.blobs[path] != nil || listing.unusable.contains(path) {
                reading.refused.insert(path)
            }
        }
        for (path, bytes) in zip(wanted, try repository.read(names, sizes: sizes, lock)) {
            reading.add(bytes, at: path)
        }
        return reading
    }

    // MARK: - State

    /// Calls `body` with the repository; if the repository is damaged, once more with a new one.
    func repairing<R>(
        _ body: (FileLock) throws(PlaceError) -> R
    ) throws(PlaceError) -> R {
        try repository.locked { lock throws(PlaceError) in
            do throws(PlaceError) {
                return try body(lock)
            } catch  where error.code == .localCopy {
                try repository.recreate()
                heads = [:]
                listing = nil
                return try body(lock)
            }
        }
    }

    private func fetch(_ head: GitRemote.Head, of group: GroupHash) throws(PlaceError) {
        let result = try repository.fetching { () throws(PlaceError) in
            try remote.fetch(head.ref, to: GitRepository.fetchedRef(of: group))
        }
        guard result.isDone else { throw GitFailure.error(result, at: remote.address) }
    }

    /// Asks the place for the group's head, and fetches it if it is new.
    func update(_ group: GroupHash, _ lock: FileLock) throws(PlaceError) {
        let head = try remote.head(of: group)
        if let head, head.commit != repository.fetchedCommit(of: group) {
            try fetch(head, of: group)
            repository.tidy(lock)
        }
        guard let head else {
            heads[group] = .some(nil)
            return
        }
        // Somebody may have published since.
        let commit = repository.fetchedCommit(of: group) ?? head.commit
        heads[group] = GitRemote.Head(ref: head.ref, commit: commit)
    }

    /// The commit that this object last saw, or that an earlier process fetched.
    private func presentCommit(of group: GroupHash) -> String? {
        if let head = heads[group] { return head?.commit }
        return repository.fetchedCommit(of: group)
    }

    func presentListing(
        of group: GroupHash, _ lock: FileLock
    ) throws(PlaceError) -> GitListing {
        if presentCommit(of: group) == nil, heads[group] == nil { try update(group, lock) }
        guard let commit = presentCommit(of: group) else { return GitListing() }
        if let listing, listing.commit == commit { return listing.objects }
        let new = try repository.listing(of: commit, lock)
        listing = (commit, new)
        return new
    }
}
