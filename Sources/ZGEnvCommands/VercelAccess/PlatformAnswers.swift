internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Answers of the platform for one command: those that are kept while they are fresh, else those of
/// now, and those that are kept again where the platform cannot be reached.
///
/// Without a vault that opens, nothing is kept.
final class PlatformAnswers {
    /// An answer, and when it was asked for.
    struct Timed<Answer> {
        let answer: Answer
        /// Milliseconds since 1970, by this machine's clock.
        let askedAt: UInt64
    }

    private let workspace: Workspace
    /// The vault's listing, where it opens; what identities are looked up in.
    let index: VaultIndex?
    private let cache: AnswerCache?

    /// Opens the cache of the vault, where there is one.
    ///
    /// - Throws: What opening the index throws; asks for the passphrase where a stored account is to
    ///   be used and nothing else opens the index.
    convenience init(_ workspace: Workspace) throws {
        let usesToken =
            try workspace.options.account == nil
            && PlatformSession.environmentToken(workspace) != nil
        let keys: VaultKeys?
        do {
            keys =
                try usesToken
                ? workspace.session.keysAtHand() : workspace.session.keys(.index)
        } catch let error as VaultError where error.code == .notFound {
            keys = nil
        }
        try self.init(
            workspace, keys: keys,
            index: keys.map {
                try workspace.session.opened().index(with: $0, extent: .listing)
            })
    }

    /// Takes what is open already.
    ///
    /// - Parameter index: Only where answers are looked up.
    init(_ workspace: Workspace, keys: VaultKeys?, index: VaultIndex? = nil) throws {
        self.workspace = workspace
        self.index = index
        guard let keys else {
            cache = nil
            return
        }
        guard let directory = Directories(workspace.context).cache else {
            workspace.detail("Answers are not kept: there is no home directory for them.")
            cache = nil
            return
        }
        cache = try AnswerCache(
            key: try keys.derivedKey(for: .answers),
            vault: try workspace.session.opened().header.vaultID,
            directory: directory, complain: { workspace.detail($0) })
    }

    /// Answers a question in the way that serves best.
    ///
    /// - Parameters:
    ///   - binding: The project's, where it is about one.
    ///   - question: Sends the question. It gets a client that gives up soon where something is kept.
    /// - Throws: What asking throws where nothing is kept, ``ExitCode/unavailable`` with `--offline`
    ///   and nothing kept.
    func answer<Answer: KeepableAnswer>(
        to subject: AnswerAddress.Subject, _ binding: VaultProject.Binding? = nil,
        by question: (PlatformSession.Access) throws -> Answer
    ) throws -> Timed<Answer> {
        func ask(_ patience: (VercelClient) -> VercelClient) throws -> Timed<Answer> {
            // With --offline this is refused.
            let access = try PlatformSession(workspace).access(binding)
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
        if AnswerPolicy.isFresh(kept.askedAt, now: now) { return kept }
        let outage = cache?.answer(at: address.asking(.outage))?.askedAt
        let why: String
        if workspace.options.offline {
            why = "--offline was said"
        } else if outage.map({ AnswerPolicy.isOutage($0, now: now) }) == true {
            why = "the platform could not be reached just now"
        } else {
            do {
                return try ask { $0.impatient() }
            } catch {
                let failure = CommandError(mapping: error)
                guard failure.code == .unavailable else { throw error }
                // So that the next command does not wait in vain again.
                let tried = workspace.context.now()
                cache?.keep([address.asking(.outage): OutageNote()], askedAt: tried, now: tried)
                workspace.detail(failure.message)
                why = "the platform cannot be reached"
            }
        }
        let age = TimeText.age(of: Int64(clamping: kept.askedAt), at: Int64(clamping: now))
        workspace.context.warn("stale-answer", "This is what the platform said \(age): \(why).")
        return kept
    }

    /// The answer that is kept, whether fresh or not, for commands that never ask.
    func kept<Answer: KeepableAnswer>(
        _ subject: AnswerAddress.Subject, _ binding: VaultProject.Binding?
    ) throws -> Timed<Answer>? {
        try address(subject, binding).flatMap { kept($0) }
    }

    private func kept<Answer: KeepableAnswer>(_ address: AnswerAddress) -> Timed<Answer>? {
        guard let kept = cache?.answer(at: address),
            AnswerPolicy.isShown(kept.askedAt, now: workspace.context.now()),
            let answer: Answer = kept.value()
        else { return nil }
        return Timed(answer: answer, askedAt: kept.askedAt)
    }

    /// The deployments of a project that any listing was told of, newest first, each once.
    func keptDeployments(of binding: VaultProject.Binding) -> [Deployment] {
        let lists = (cache?.answers() ?? []).filter { answer in
            guard answer.address.origin == binding.origin,
                case .deployments(binding.projectID, _) = answer.address.subject
            else { return false }
            return true
        }
        var seen: Set<String> = []
        return lists.sorted { $0.askedAt > $1.askedAt }
            .flatMap { $0.value(as: DeploymentsAnswer.self)?.deployments ?? [] }
            .filter { seen.insert($0.id).inserted }
    }

    /// Keeps answers that the command has anyway.
    ///
    /// - Parameter scope: On whose behalf they are looked up; nil where that is as they were asked for.
    func keep(
        _ answers: [AnswerAddress.Subject: some KeepableAnswer],
        from access: PlatformSession.Access, scope: APIScope? = nil, askedAt: UInt64
    ) throws {
        guard let cache else { return }
        let identity = PlatformIdentity(
            origin: access.client.origin, scope: scope ?? access.client.scope,
            account: access.account)
        let addressed = try answers.map { subject, answer in
            (try address(of: subject, identity, cache), answer)
        }
        cache.keep(
            Dictionary(uniqueKeysWithValues: addressed), askedAt: askedAt,
            now: workspace.context.now())
    }

    /// Drops answers, for whoever asked.
    func drop(where isMeant: (KeptAnswer) -> Bool) {
        cache?.drop(where: isMeant)
    }

    /// Drops everything but what belongs to `accounts`: also what does not open.
    func keepOnly(_ accounts: [Account]) {
        let names = Set(accounts.map(\.answerName))
        cache?.drop { !names.contains($0.address.account) }
        cache?.dropUnreadable()
    }

    private func address(
        _ subject: AnswerAddress.Subject, _ binding: VaultProject.Binding?
    ) throws -> AnswerAddress? {
        guard let cache, let index,
            let identity = try PlatformIdentity(workspace, index, binding)
        else { return nil }
        return try address(of: subject, identity, cache)
    }

    private func address(
        of subject: AnswerAddress.Subject, _ identity: PlatformIdentity, _ cache: AnswerCache
    ) throws -> AnswerAddress {
        try identity.address(
            of: subject,
            token: try PlatformSession.environmentToken(workspace).map(cache.account) ?? "")
    }
}

extension Workspace {
    /// Drops answers that are kept, for whoever asked, where that takes no question.
    private func dropAnswers(where isMeant: (KeptAnswer) -> Bool) {
        // That something old may be shown for a minute is no reason to leave other work undone.
        guard let keys = try? session.keysAtHand() else { return }
        try? PlatformAnswers(self, keys: keys).drop(where: isMeant)
    }

    /// Drops every answer that is kept, after the platform has refused a token: what that token was
    /// shown before is not to be shown now. Whose it was makes no difference: the others' answers are
    /// asked for again.
    func dropAnswersAfterRefusal() { dropAnswers { _ in true } }

    /// Does something to deployments of a project on the platform. What is kept of them is dropped
    /// before, as nobody may be left to do it afterwards, and again after it.
    func changingDeployments<R>(
        ofProject project: String, at origin: APIOrigin, _ work: () throws -> R
    ) throws -> R {
        try changingDeployments(ofProjects: [(project, origin)], work)
    }

    /// The same for deployments of several projects.
    func changingDeployments<R>(
        ofProjects projects: [(id: String, origin: APIOrigin)], _ work: () throws -> R
    ) throws -> R {
        func drop() {
            dropAnswers { answer in
                projects.contains { answer.isAbout(deploymentsOf: $0.id, at: $0.origin) }
            }
        }
        drop()
        defer { drop() }
        return try work()
    }
}

extension KeptAnswer {
    /// Tells whether a change of a project's deployments changes this answer.
    func isAbout(deploymentsOf project: String, at origin: APIOrigin) -> Bool {
        guard address.origin == origin.description else { return false }
        switch address.subject {
        case .deployments(project, _), .deployments("", _): return true
        case .projects: return value(as: [Project].self)?.contains { $0.id == project } ?? true
        case .deployments, .sharedVariables, .outage: return false
        }
    }
}
