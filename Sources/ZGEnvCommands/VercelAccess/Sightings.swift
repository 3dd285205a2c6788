internal import EnvOperations
internal import Vault

/// What Vercel showed at the last look, by project of the vault: in the response cache, so that a
/// look needs no right to write the vault.
///
/// For lists only. What writes the vault, changes something on Vercel or answers by its exit code
/// asks Vercel, because the index key is enough to forge a sighting.
final class Sightings {
    private let cache: ResponseCache?
    private let now: () -> UInt64
    /// What this process noted and the cache did not keep, for example on a full disk.
    private var held: [Identifier: ProjectSighting] = [:]
    /// What this command found that colleagues pushed.
    private var claims: [(inout [Variable]) -> Void] = []

    init(_ cache: ResponseCache?, now: @escaping () -> UInt64) {
        (self.cache, self.now) = (cache, now)
    }

    /// Shows in an index what was seen of its projects.
    func show(in index: inout VaultIndex) {
        for apply in claims { apply(&index.variables) }
        for project in index.projects
        where project.binding != nil && index.isOpened(project.id) {
            self[project.id]?.show(in: &index, of: project.id)
        }
    }

    /// Returns the variables that were never agreed on with Vercel, which has a record of its own in
    /// their place.
    func occupied(in index: VaultIndex) -> Set<Identifier> {
        Set(
            index.projects.filter { $0.binding != nil && index.isOpened($0.id) }.flatMap {
                self[$0.id]?.occupied(of: $0.id, in: index) ?? []
            }.map(\.id))
    }

    /// Notes what a look at a project showed.
    ///
    /// - Parameters:
    ///   - askedAt: When it was asked for, by this machine's clock.
    ///   - look: Adds it to what was seen before.
    /// - Returns: Whether anything differs from what was seen before.
    @discardableResult
    func note(
        of project: Identifier, askedAt: UInt64, _ look: (inout ProjectSighting) -> Void
    ) -> Bool {
        let before = self[project] ?? ProjectSighting()
        var seen = before
        look(&seen)
        guard seen != before else { return false }
        cache?.keep(seen, of: project, askedAt: askedAt, now: now())
        let isKept = cache?.sighting(of: project, now: now()) == seen
        held[project] = isKept ? nil : seen
        return true
    }

    /// Shows for the rest of this command what colleagues pushed, which the next pull or push
    /// records.
    func show(pushed apply: @escaping (inout [Variable]) -> Void) { claims.append(apply) }

    private subscript(project: Identifier) -> ProjectSighting? {
        held[project] ?? cache?.sighting(of: project, now: now())
    }
}

extension VaultSession {
    /// The sightings of this vault; needs the index key.
    ///
    /// - Throws: What opening the index throws.
    func sightings() throws -> Sightings {
        try attached {
            Sightings(try responseCache(with: keys(.index)) { _ in }, now: context.now)
        }
    }

    /// Opens the index, and shows in it what Vercel showed at the last look: for lists only.
    func indexAsSeen(_ extent: VaultIndex.Extent) throws -> VaultIndex {
        var index = try index(extent)
        try sightings().show(in: &index)
        return index
    }

    /// The same with the variables of one project only.
    func indexAsSeen(
        _ extent: VaultIndex.Extent, of project: (VaultIndex) throws -> VaultProject?
    ) throws -> VaultIndex {
        var index = try index(extent, of: project)
        try sightings().show(in: &index)
        return index
    }

    /// Notes what Vercel lists for a project.
    ///
    /// - Returns: Whether it differs from what was seen before.
    @discardableResult
    func note(
        _ listing: ListedRecords, listedAt: UInt64, vercelTime: UInt64, of project: Identifier
    ) throws -> Bool {
        let index = try index(.listing) { $0.project(project) }
        return try sightings().note(of: project, askedAt: listedAt) {
            $0.note(listing, listedAt: listedAt, vercelTime: vercelTime, of: project, in: index)
        }
    }

    /// Notes the live deployment of a project.
    ///
    /// - Parameter removed: Records that were gone from Vercel before it was requested, regardless
    ///   of its clock.
    @discardableResult
    func note(
        live: VaultProject.LiveDeployment?, at time: UInt64, of project: Identifier,
        without removed: Set<Identifier> = []
    ) throws -> Bool {
        let index = try index(.listing) { $0.project(project) }
        return try sightings().note(of: project, askedAt: time) {
            $0.note(live: live, at: time, without: removed, of: project, in: index)
        }
    }

    /// Returns the response cache of this vault; nil without a home directory.
    ///
    /// - Parameter complain: Called with one sentence if something could not be cached.
    func responseCache(
        with keys: VaultKeys, complain: @escaping (String) -> Void
    ) throws -> ResponseCache? {
        guard let directory = Directories(context).cache else {
            complain("Responses are not cached: there is no home directory.")
            return nil
        }
        return try ResponseCache(
            key: try keys.derivedKey(for: .answers), vault: try opened().header.vaultID,
            directory: directory, complain: complain)
    }
}
