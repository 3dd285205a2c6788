internal import CommandLineKit
internal import EnvOperations
internal import HTTPClient
internal import Vault
internal import VercelAPI

/// Vercel's responses for one command: fresh cached ones, else new ones, else older cached ones if
/// Vercel is unreachable.
///
/// Caches nothing without an open vault.
final class VercelResponses {
    /// A response, and when it was requested.
    struct Timed<Answer> {
        let answer: Answer
        /// In milliseconds since 1970, by the local clock.
        let askedAt: UInt64
    }

    private let workspace: Workspace
    /// The table of the vault's index, if it is open, for finding accounts and projects.
    let index: VaultIndex?
    private let cache: ResponseCache?

    /// Opens the vault's response cache, if there is a vault.
    ///
    /// - Throws: Errors of opening the index; asks for the passphrase if a stored account is needed
    ///   and nothing else opens the index.
    convenience init(_ workspace: Workspace) throws {
        let usesToken =
            try workspace.options.account == nil
            && VercelSession.environmentToken(workspace) != nil
        let keys: VaultKeys?
        do {
            keys =
                try usesToken
                ? workspace.session.keysWithoutPrompt() : workspace.session.keys(.index)
        } catch let error as VaultError where error.code == .notFound {
            keys = nil
        }
        try self.init(
            workspace, keys: keys,
            index: keys.map { try workspace.session.index(.listing, with: $0) { _ in nil } })
    }

    /// Uses keys that are already open.
    ///
    /// - Parameter index: Needed only for looking up cached responses.
    init(_ workspace: Workspace, keys: VaultKeys?, index: VaultIndex? = nil) throws {
        self.workspace = workspace
        self.index = index
        guard let keys else {
            cache = nil
            return
        }
        cache = try workspace.session.responseCache(with: keys) { workspace.detail($0) }
    }

    /// Returns the response to a request, from the cache or from Vercel.
    ///
    /// - Parameters:
    ///   - binding: The link of the project that it is about, if any.
    ///   - question: Sends the request. Its client fails fast if there is a cached response.
    /// - Throws: Errors of the request if nothing is cached; ``ExitCode/unavailable`` if nothing is
    ///   cached with `--offline`.
    func answer<Answer: CacheableResponse>(
        to subject: ResponseKey.Subject, _ binding: VaultProject.Binding? = nil,
        by question: (VercelSession.Access) throws -> Answer
    ) throws -> Timed<Answer> {
        func ask(_ patience: (VercelClient) -> VercelClient) throws -> Timed<Answer> {
            // Fails with --offline.
            let access = try VercelSession(workspace).access(binding)
            let askedAt = workspace.context.now()
            let answer = try question(
                .init(client: patience(access.client), account: access.account))
            try keep(
                [subject: answer], from: access,
                scope: binding.map { APIScope(teamID: $0.teamID) }, askedAt: askedAt)
            return Timed(answer: answer, askedAt: askedAt)
        }
        let (address, now) = (try address(subject, binding), workspace.context.now())
        guard !workspace.options.refresh, let address, let kept: Timed<Answer> = kept(address)
        else { return try ask { $0 } }
        if ResponseCachePolicy.isFresh(kept.askedAt, now: now) { return kept }
        let outage = cache?.answer(at: address.asking(.outage))?.askedAt
        let why: String
        if workspace.options.offline {
            why = "--offline"
        } else if outage.map({ ResponseCachePolicy.isOutage($0, now: now) }) == true {
            why = "Vercel was unreachable a moment ago"
        } else {
            do {
                return try ask { $0.failFast() }
            } catch {
                let failure = CommandError(mapping: error)
                guard failure.code == .unavailable else { throw error }
                // Spares the next command the wait.
                let tried = workspace.context.now()
                cache?.keep([address.asking(.outage): OutageNote()], askedAt: tried, now: tried)
                workspace.detail(failure.message)
                why = "Vercel is unreachable"
            }
        }
        let age = TimeText.age(of: Int64(clamping: kept.askedAt), at: Int64(clamping: now))
        workspace.context.warn("stale-answer", "Showing cached data from \(age) (\(why)).")
        return kept
    }

    /// Returns the cached response, fresh or not, for commands that send no requests.
    func kept<Answer: CacheableResponse>(
        _ subject: ResponseKey.Subject, _ binding: VaultProject.Binding?
    ) throws -> Timed<Answer>? {
        try address(subject, binding).flatMap { kept($0) }
    }

    private func kept<Answer: CacheableResponse>(_ address: ResponseKey) -> Timed<Answer>? {
        guard let kept = cache?.answer(at: address),
            ResponseCachePolicy.isShown(kept.askedAt, now: workspace.context.now()),
            let answer: Answer = kept.value()
        else { return nil }
        return Timed(answer: answer, askedAt: kept.askedAt)
    }

    /// Returns the deployments of a project in all cached listings, newest first, without
    /// duplicates, and the newest listing.
    func cachedDeployments(
        of binding: VaultProject.Binding
    ) -> (deployments: [Deployment], newest: DeploymentsResponse?) {
        let lists = (cache?.answers() ?? []).filter { answer in
            guard answer.address.origin == binding.origin,
                case .deployments(binding.projectID, _) = answer.address.subject
            else { return false }
            return true
        }
        var seen: Set<String> = []
        let answers = lists.sorted { $0.askedAt > $1.askedAt }
            .compactMap { $0.value(as: DeploymentsResponse.self) }
        return (
            answers.flatMap(\.deployments).filter { seen.insert($0.id).inserted },
            answers.first
        )
    }

    /// Caches responses that the command has received anyway.
    ///
    /// - Parameter scope: The scope to cache them for; nil for that of the request.
    func keep(
        _ answers: [ResponseKey.Subject: some CacheableResponse],
        from access: VercelSession.Access, scope: APIScope? = nil, askedAt: UInt64
    ) throws {
        guard let cache else { return }
        let identity = RequestIdentity(
            origin: access.client.origin, scope: scope ?? access.client.scope,
            account: access.account)
        let addressed = try answers.map { subject, answer in
            (try address(of: subject, identity, cache), answer)
        }
        cache.keep(
            Dictionary(uniqueKeysWithValues: addressed), askedAt: askedAt,
            now: workspace.context.now())
    }

    /// Caches what a command has learned about the production deployments of a linked project, for
    /// `status`.
    func keep(
        production answer: DeploymentsResponse, of binding: VaultProject.Binding, askedAt: UInt64
    ) throws {
        let subject = ResponseKey.Subject.deployments(
            project: binding.projectID, filter: Self.production)
        guard let cache, let address = try address(subject, binding) else { return }
        cache.keep([address: answer], askedAt: askedAt, now: workspace.context.now())
    }

    /// The cache's name for such an answer, which no filter of a list has.
    private static let production = "production"

    /// Removes cached responses of all accounts.
    func drop(where isMeant: (CachedResponse) -> Bool) {
        cache?.drop(where: isMeant)
    }

    /// Removes all cached responses except those of `accounts`, including unreadable ones.
    func keepOnly(_ accounts: [Account]) {
        let names = Set(accounts.map(\.cacheName))
        cache?.drop { !names.contains($0.address.account) && !$0.address.isSighting }
        cache?.dropUnreadable()
    }

    private func address(
        _ subject: ResponseKey.Subject, _ binding: VaultProject.Binding?
    ) throws -> ResponseKey? {
        guard let cache, let index,
            let identity = try RequestIdentity(workspace, index, binding)
        else { return nil }
        return try address(of: subject, identity, cache)
    }

    private func address(
        of subject: ResponseKey.Subject, _ identity: RequestIdentity, _ cache: ResponseCache
    ) throws -> ResponseKey {
        try identity.address(
            of: subject,
            token: try VercelSession.environmentToken(workspace).map(cache.account) ?? "")
    }
}

extension Workspace {
    /// Removes cached responses of all accounts, if the vault opens without a prompt.
    private func dropResponses(where isMeant: (CachedResponse) -> Bool) {
        // A failure must not stop other work: stale data expires within a minute.
        guard let keys = try? session.keysWithoutPrompt() else { return }
        try? VercelResponses(self, keys: keys).drop(where: isMeant)
    }

    /// Removes all cached responses after Vercel rejected a token, so that what it was allowed to
    /// see is no longer shown. Responses of other accounts are simply requested again.
    func dropResponsesAfterRejection() { dropResponses { !$0.address.isSighting } }

    /// Removes cached lists of projects after one was created.
    func dropProjectLists(at origin: APIOrigin) {
        dropResponses { answer in
            guard answer.address.origin == origin.description else { return false }
            return if case .projects = answer.address.subject { true } else { false }
        }
    }

    /// Changes deployments of a project on Vercel. Drops their cached responses before, in case the
    /// process is killed, and again afterwards.
    func withDeploymentChange<R>(
        ofProject project: String, at origin: APIOrigin, _ work: () throws -> R
    ) throws -> R {
        try withDeploymentChange(ofProjects: [(project, origin)], work)
    }

    func withDeploymentChange<R>(
        ofProjects projects: [(id: String, origin: APIOrigin)], _ work: () throws -> R
    ) throws -> R {
        func drop() {
            dropResponses { answer in
                projects.contains { answer.isAbout(deploymentsOf: $0.id, at: $0.origin) }
            }
        }
        drop()
        defer { drop() }
        return try work()
    }
}

extension CachedResponse {
    /// Returns whether a change of a project's deployments outdates this response.
    func isAbout(deploymentsOf project: String, at origin: APIOrigin) -> Bool {
        guard address.origin == origin.description else { return false }
        switch address.subject {
        case .deployments(project, _), .deployments("", _): return true
        case .projects: return value(as: [Project].self)?.contains { $0.id == project } ?? true
        case .deployments, .sharedVariables, .integrations, .sighting, .outage: return false
        }
    }
}
