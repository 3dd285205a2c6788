internal import CommandLineKit
internal import EnvOperations
internal import Sealing
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

    /// What a question is sent with.
    typealias Question<Answer> = (PlatformSession.Access) throws -> Answer

    private let invocation: Invocation
    /// The vault's listing, where it opens; what identities are looked up in.
    let index: VaultIndex?
    private let cache: AnswerCache?

    /// Opens the cache of the vault, where there is one.
    ///
    /// - Throws: What opening the index throws; asks for the passphrase where a stored account is to
    ///   be used and nothing else opens the index.
    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        guard let keys = try Self.keys(invocation) else {
            (index, cache) = (nil, nil)
            return
        }
        index = try invocation.session.opened().index(with: keys, extent: .listing)
        cache = try Self.cache(invocation, keys)
    }

    /// Takes what is open already.
    init(_ invocation: Invocation, keys: VaultKeys, index: VaultIndex) throws {
        self.invocation = invocation
        self.index = index
        cache = try Self.cache(invocation, keys)
    }

    private static func keys(_ invocation: Invocation) throws -> VaultKeys? {
        let usesToken =
            invocation.options.account == nil
            && invocation.context.variable("VERCEL_TOKEN") != nil
        do {
            return usesToken
                ? try invocation.session.indexKeysWithoutAsking()
                : try invocation.session.indexKeys()
        } catch let error as VaultError where error.code == .notFound {
            return nil
        }
    }

    private static func cache(_ invocation: Invocation, _ keys: VaultKeys) throws -> AnswerCache? {
        guard let path = Directories(invocation.context).cache else {
            try invocation.detail("Answers are not kept: there is no home directory for them.")
            return nil
        }
        return try AnswerCache(
            key: try keys.answerCacheKey(), vault: try invocation.session.opened().header.vaultID,
            store: PosixAnswerStore(path: path),
            complain: { try? invocation.detail($0) })
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
        by question: Question<Answer>
    ) throws -> Timed<Answer> {
        let address = try address(subject, binding)
        let kept = try address.flatMap { try self.kept($0, as: Answer.self) }
        let now = invocation.context.now()
        let course = AnswerPolicy.course(
            askedAt: kept?.askedAt, outageAt: try address.flatMap { try outage($0) }, now: now,
            rule: rule)
        switch (course, kept) {
        case (.serve, let kept?):
            if !AnswerPolicy.isFresh(kept.askedAt, now: now) {
                warnOfAge(kept.askedAt, now, "--offline was said")
            }
            return kept
        case (.serveStale, let kept?):
            warnOfAge(kept.askedAt, now, "the platform could not be reached just now")
            return kept
        case (.askOrServe, let kept?):
            do {
                return try ask(subject, binding, question) { $0.impatient() }
            } catch {
                let failure = CommandError(mapping: error)
                guard failure.code == .unavailable else { throw error }
                try noteOutage(address)
                warnOfAge(kept.askedAt, now, "the platform cannot be reached")
                try? invocation.detail(failure.message)
                return kept
            }
        default:
            // With --offline this is refused where the session is made.
            return try ask(subject, binding, question) { $0 }
        }
    }

    /// The answer that is kept, however old, for commands that never ask.
    func kept<Answer: KeepableAnswer>(
        _ subject: AnswerAddress.Subject, _ binding: VaultProject.Binding?,
        as type: Answer.Type = Answer.self
    ) throws -> Timed<Answer>? {
        guard let address = try address(subject, binding) else { return nil }
        let now = invocation.context.now()
        guard let kept = try kept(address, as: type),
            AnswerPolicy.course(
                askedAt: kept.askedAt, outageAt: nil, now: now, rule: .offline) == .serve
        else { return nil }
        return kept
    }

    /// The deployments of a project that any listing was told of, newest first, each once.
    func keptDeployments(of binding: VaultProject.Binding) -> [Deployment] {
        let lists = cache?.answers { address in
            guard address.origin == binding.origin,
                case .deployments(binding.projectID, _) = address.subject
            else { return false }
            return true
        }
        var seen: Set<String> = []
        return (lists ?? []).sorted { $0.askedAt > $1.askedAt }
            .flatMap { $0.value(as: DeploymentsAnswer.self)?.deployments ?? [] }
            .filter { seen.insert($0.id).inserted }
    }

    /// Keeps an answer that the command has anyway.
    func keep(
        _ answer: some KeepableAnswer, to subject: AnswerAddress.Subject,
        from access: PlatformSession.Access, askedAt: UInt64
    ) throws {
        guard let cache else { return }
        try cache.keep(
            answer, at: try address(subject, of: access, nil, cache), askedAt: askedAt,
            now: invocation.context.now())
    }

    /// Drops answers, for whoever asked.
    func drop(where isMeant: (KeptAnswer) -> Bool) {
        cache?.drop(where: isMeant)
    }

    /// Drops everything but what belongs to `accounts`: also what does not open.
    func keepOnly(_ accounts: [Account]) {
        let names = Set(accounts.map(\.answerName))
        cache?.drop(unreadable: true) { !names.contains($0.address.account) }
    }

    // MARK: Asking

    private var rule: AnswerPolicy.Rule {
        invocation.options.refresh
            ? .refresh : invocation.options.offline ? .offline : .ordinary
    }

    private func ask<Answer: KeepableAnswer>(
        _ subject: AnswerAddress.Subject, _ binding: VaultProject.Binding?,
        _ question: Question<Answer>, patience: (VercelClient) -> VercelClient
    ) throws -> Timed<Answer> {
        let access = try PlatformSession(invocation).access(binding)
        let askedAt = invocation.context.now()
        let answer = try question(
            .init(client: patience(access.client), account: access.account))
        if let cache {
            let address = try address(
                subject, of: access, binding.map { $0.teamID.map { .team(id: $0) } ?? .personal },
                cache)
            try cache.keep(answer, at: address, askedAt: askedAt, now: invocation.context.now())
            if try cache.answer(at: address.asking(.outage)) != nil {
                try cache.drop(address.asking(.outage))
            }
        }
        return Timed(answer: answer, askedAt: askedAt)
    }

    private func address(
        _ subject: AnswerAddress.Subject, _ binding: VaultProject.Binding?
    ) throws -> AnswerAddress? {
        guard let cache, let index,
            let identity = try PlatformIdentity(invocation, index, binding)
        else { return nil }
        return PlatformIdentity.address(
            identity.origin, identity.scope, account: try name(identity.account, cache), subject)
    }

    private func address(
        _ subject: AnswerAddress.Subject, of access: PlatformSession.Access, _ scope: APIScope?,
        _ cache: AnswerCache
    ) throws -> AnswerAddress {
        PlatformIdentity.address(
            access.client.origin, scope ?? access.client.scope,
            account: try name(access.account, cache),
            subject)
    }

    private func name(_ account: Account?, _ cache: AnswerCache) throws -> String {
        if let account { return account.answerName }
        let name = Array("VERCEL_TOKEN=".utf8)
        let entry = invocation.context.rawEnvironment.first { $0.starts(with: name) } ?? []
        let arena = SecretArena(firstRegionByteCount: 4096)
        return try cache.account(
            ofToken: try Array(entry.dropFirst(name.count)).withBytes { try arena.copy($0) })
    }

    private func kept<Answer: KeepableAnswer>(
        _ address: AnswerAddress, as type: Answer.Type
    ) throws -> Timed<Answer>? {
        guard let kept = try cache?.answer(at: address), let answer = kept.value(as: type) else {
            return nil
        }
        return Timed(answer: answer, askedAt: kept.askedAt)
    }

    // MARK: Outages

    private func outage(_ address: AnswerAddress) throws -> UInt64? {
        try cache?.answer(at: address.asking(.outage))?.askedAt
    }

    /// So that the next command does not wait in vain again.
    private func noteOutage(_ address: AnswerAddress?) throws {
        guard let address, let cache else { return }
        let now = invocation.context.now()
        try cache.keep(OutageNote(), at: address.asking(.outage), askedAt: now, now: now)
    }

    private func warnOfAge(_ askedAt: UInt64, _ now: UInt64, _ why: String) {
        let age = TimeText.age(of: Int64(clamping: askedAt), at: Int64(clamping: now))
        invocation.context.warn("stale-answer", "This is what the platform said \(age): \(why).")
    }
}

extension Invocation {
    /// Drops every answer that is kept, after the platform has refused a token: what that token was
    /// shown before is not to be shown now. Whose it was makes no difference: the others' answers are
    /// asked for again.
    func dropAnswersAfterRefusal() {
        guard let keys = try? session.indexKeysWithoutAsking(),
            let index = try? session.opened().index(with: keys, extent: .listing),
            let answers = try? PlatformAnswers(self, keys: keys, index: index)
        else { return }
        answers.drop { _ in true }
    }

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
            // That something old may be shown for a minute is no reason to leave the work undone.
            guard let keys = try? session.indexKeysWithoutAsking(),
                let index = try? session.opened().index(with: keys, extent: .listing),
                let answers = try? PlatformAnswers(self, keys: keys, index: index)
            else { return }
            answers.drop { answer in
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
        case .projects:
            return value(as: ProjectsAnswer.self)?.projects.contains { $0.id == project } ?? true
        case .deployments, .sharedVariables, .outage: return false
        }
    }
}
