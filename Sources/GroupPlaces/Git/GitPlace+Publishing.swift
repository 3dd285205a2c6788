internal import Glibc
package import Groups
internal import SystemFiles
internal import Vault

extension GitPlace {
    /// Objects of one commit: the number, and their bytes.
    private static let largestCommit = (count: 5_000, bytes: 32 << 20)
    /// Vercel deploys branches of connected repositories, except those that say this.
    private static let noDeployment = (
        path: "vercel.json", bytes: Array("{\"git\":{\"deploymentEnabled\":false}}\n".utf8)
    )

    package func publish(
        _ objects: [PlaceObject], to group: GroupHash
    ) throws(PlaceError) -> Set<ObjectPath> {
        guard !objects.isEmpty else { return [] }
        return try repairing { lock throws(PlaceError) in
            let end = ContinuousClock.now + patience
            var pause: UInt32 = 20_000
            // What an earlier call saw saves a request: a push shows whether it is still true.
            var isConfirmed = false
            if heads[group] == nil {
                try update(group, lock)
                isConfirmed = true
            }
            var (missing, taken) = try compare(objects, with: group, lock)
            while !missing.isEmpty || !isConfirmed {
                if !missing.isEmpty {
                    let part = Self.firstPart(of: missing)
                    let result = try push(part, to: group, lock)
                    if case .done = result {
                        missing.removeFirst(part.count)
                        isConfirmed = true
                        continue
                    }
                    guard ContinuousClock.now < end else { throw lostRace(result, group) }
                    if isConfirmed {
                        // Processes that failed together must not retry together.
                        usleep(UInt32.random(in: pause / 4...pause))
                        pause = min(pause * 2, 500_000)
                    }
                }
                try update(group, lock)
                isConfirmed = true
                (missing, taken) = try compare(objects, with: group, lock)
            }
            repository.tidy(lock)
            return taken
        }
    }

    private func lostRace(_ last: GitRemote.Push, _ group: GroupHash) -> PlaceError {
        guard case .locked = last else {
            return PlaceError(
                .lostRace, "Others kept publishing at the same time. Retry in a moment.")
        }
        return PlaceError(
            .lostRace,
            "The file \(ref(of: group)).lock in the group's repository prevents every change. If "
                + "no git process is running on that machine, delete that file and retry.")
    }

    private func ref(of group: GroupHash) -> String {
        (heads[group] ?? nil)?.ref
            ?? (usesBranches ? GitRemote.branch(of: group) : GitRemote.customRef(of: group))
    }

    /// Returns the objects that the place lacks, and the paths at which it has others.
    private func compare(
        _ objects: [PlaceObject], with group: GroupHash, _ lock: FileLock
    ) throws(PlaceError) -> (missing: [PlaceObject], taken: Set<ObjectPath>) {
        let listing = try presentListing(of: group, lock)
        let known = listing.paths
        let present = try read(
            objects.map(\.path).filter { known.contains($0) }, listing, upTo: .max, lock)
        var (missing, taken) = ([PlaceObject](), Set<ObjectPath>())
        for object in objects {
            if let bytes = present.objects[object.path] {
                if bytes != object.bytes { taken.insert(object.path) }
            } else if known.contains(object.path), object.path.hash == nil {
                taken.insert(object.path)
            } else {
                // Absent, or bytes that do not fit the path and are of no use to anybody.
                missing.append(object)
            }
        }
        return (missing, taken)
    }

    private static func firstPart(of objects: [PlaceObject]) -> [PlaceObject] {
        var bytes = 0
        var part: [PlaceObject] = []
        for object in objects.prefix(largestCommit.count) {
            bytes += object.bytes.count
            if bytes > largestCommit.bytes, !part.isEmpty { break }
            part.append(object)
        }
        return part
    }

    /// Publishes objects with one commit.
    ///
    /// - Returns: Not ``GitRemote/Push/refused(_:)``, which is thrown.
    private func push(
        _ objects: [PlaceObject], to group: GroupHash, _ lock: FileLock
    ) throws(PlaceError) -> GitRemote.Push {
        let head = heads[group] ?? nil
        let ref = ref(of: group)
        var files = objects.map { (path: $0.path.text, bytes: $0.bytes) }
        if ref == GitRemote.branch(of: group) { files.append(Self.noDeployment) }
        let commit = try repository.commit(files, to: group, after: head?.commit, lock)
        let result = try remote.push(commit, to: ref)
        switch result {
        case .raced, .locked: return result
        case .refused(let reason):
            guard head == nil, !usesBranches else {
                throw Self.refusal(reason)
            }
        case .done:
            // A host may accept a ref and hide it.
            var isVisible = head != nil || usesBranches
            if !isVisible { isVisible = try remote.head(of: group) != nil }
            if isVisible {
                try repository.store(commit, of: group, lock)
                heads[group] = GitRemote.Head(ref: ref, commit: commit)
                return .done
            }
        }
        usesBranches = true
        return try push(objects, to: group, lock)
    }

    private static func refusal(_ reason: String) -> PlaceError {
        let isHook = reason.contains("hook")
        return PlaceError(
            .refused,
            "The host rejects what zg-env publishes\(isHook ? " (a hook declined it)" : ""). "
                + "Check that you may push to the repository, and check its rules.")
    }

    package func probe() throws(PlaceError) -> PlaceTraits {
        let name = "probe-\(Identifier.random().hexadecimal)"
        // The commits need a ref of our copy.
        let group = GroupHash(of: Array("probe".utf8))
        return try repairing { lock throws(PlaceError) in
            for prefix in [GitRemote.customRefs, GitRemote.branches] {
                let ref = prefix + name
                let isBranch = prefix == GitRemote.branches
                func create(_ text: String) throws(PlaceError) -> (GitRemote.Push, String) {
                    let file = (path: "probe", bytes: Array(text.utf8))
                    let commit = try repository.commit(
                        isBranch ? [file, Self.noDeployment] : [file], to: group, after: nil, lock)
                    return (try remote.push(commit, to: ref), commit)
                }
                let (first, commit) = try create(name)
                switch first {
                case .refused(let reason):
                    guard !isBranch else { throw Self.refusal(reason) }
                    continue
                case .raced, .locked:
                    throw PlaceError(
                        .refused, "The host did not create a new ref. Retry in a moment.")
                case .done: break
                }
                let isVisible = try remote.heads([ref]).contains { $0.commit == commit }
                let (second, _) = try create("another \(name)")
                let isUnchanged = try remote.heads([ref]).contains { $0.commit == commit }
                _ = try? remote.push(nil, to: ref)
                if !isVisible, !isBranch { continue }
                if case .done = second { throw Self.replacing }
                guard isUnchanged else { throw Self.replacing }
                usesBranches = isBranch
                return PlaceTraits(usesBranches: isBranch)
            }
            throw Self.refusal("")
        }
    }

    private static let replacing = PlaceError(
        .notExclusive,
        "The host replaces a commit with one that does not continue it, so entries of a group could"
            + " be lost. Use another host.")
}
