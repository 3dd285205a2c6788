import Sealing

@testable import EnvOperations
@testable import Vault

/// Returns a text as a value.
func secret(_ text: String, in arena: SecretArena) -> SecretSlice {
    guard let value = try? Array(text.utf8).withBytes({ try arena.copy($0) }) else {
        fatalError("no memory for a value")
    }
    return value
}

/// Returns a value as text.
func text(_ value: SecretSlice) -> String {
    value.withBytes { bytes in
        String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
    }
}

/// What the vault has after the notes of a sender.
struct NotedVault {
    /// The journal.
    private(set) var open: [SendEntry] = []
    /// The last news of each variable.
    private(set) var known: [Identifier: RecordUpdate.Knowledge] = [:]
    /// The ids of the records that are known to be gone.
    private(set) var gone: Set<String> = []
    /// The times of the records that both sides have of each variable.
    private var witnesses: [Identifier: UInt64] = [:]
    private(set) var departed: [String] = []

    mutating func keep(_ note: SendNote) {
        for update in note.records {
            if case .gone(let id) = update.knowledge { gone.insert(id) }
            guard let variable = update.variable else { continue }
            known[variable] = update.knowledge
            if case .agreed(let record, _, _) = update.knowledge {
                witnesses[variable] = record.updatedAt
            }
        }
        departed += note.departed.map(\.id)
        open.removeAll { note.ended.contains($0.id) }
        open += note.begun
    }

    /// The time of the record that both sides last had of a variable.
    func witness(_ variable: Identifier) -> UInt64? { witnesses[variable] }

    /// The version and record that both sides have of a variable; nil unless that is known.
    func agreed(_ variable: Identifier) -> (version: UInt64?, record: VercelRecord)? {
        guard case .agreed(let record, let version, _) = known[variable] else { return nil }
        return (version, record)
    }
}

/// A sender over a platform in memory, with what the vault hears of it.
final class SenderRun {
    let platform: MemoryPlatform
    private(set) var vault = NotedVault()
    /// The user whose token is used; empty if unknown.
    var author = "me"
    private var values: [Identifier: (sent: String, kept: String)] = [:]
    private var count: UInt64 = 0
    private let arena = SecretArena()

    init(_ kind: MemoryPlatform.Kind) { platform = MemoryPlatform(kind) }

    var kind: MemoryPlatform.Kind { platform.kind }

    /// Sends requests that were planned from what the platform has now.
    ///
    /// - Parameter meanwhile: What happens between the plan and the first look.
    func send(
        _ requests: [SyncRequest], meanwhile: () -> Void = {}
    ) throws -> [RequestOutcome?] {
        let listing = FreshListing(platform)
        let planned = try listing.current()
        meanwhile()
        listing.expire()
        let values = values
        let arena = arena
        func value(_ request: SyncRequest) -> (sent: String, kept: String)? {
            request.owner.flatMap { values[$0.variable] }
        }
        let sender = RequestSender(
            platform,
            .init(
                project: Identifier(high: 1, low: 1), remoteProject: "prj", author: author,
                now: { 1 }),
            planned: planned, listing: listing,
            values: (
                { value($0).map { secret($0.sent, in: arena) } },
                { value($0).map { secret($0.kept, in: arena) } }
            ), keep: { self.vault.keep($0) }, progress: { _, _ in })
        return try sender.send(requests)
    }

    // MARK: Requests

    private func owner(sending value: String, keeping kept: String = "") -> SyncRequest.Owner {
        count += 1
        let owner = SyncRequest.Owner(variable: Identifier(high: 2, low: count), version: 7)
        values[owner.variable] = (value, kept)
        return owner
    }

    func creation(
        _ key: String, _ value: String = "new", kind: VariableAttributes.Kind = .encrypted,
        comment: String? = nil
    ) -> SyncRequest {
        SyncRequest(
            key: key,
            attributes: .init(
                kind: kind, scope: Scope(targets: platform.kind.targets), comment: comment),
            action: .create, owner: owner(sending: value), hasKnownValue: true,
            agreed: Scope(targets: platform.kind.targets), waitsFor: [])
    }

    /// The change of a record, with a value unless it is nil.
    func change(
        _ id: String, _ value: String? = "new", key: String? = nil,
        _ edit: (inout VariableAttributes) -> Void = { _ in }
    ) throws -> SyncRequest {
        let record = try record(id)
        var attributes = record.attributes
        edit(&attributes)
        return SyncRequest(
            key: key ?? record.key, attributes: attributes,
            action: .change(before(record), withValue: value != nil),
            owner: owner(sending: value ?? record.value, keeping: record.value),
            hasKnownValue: true, agreed: attributes.scope, waitsFor: [])
    }

    /// The deletion of a record; of one that the vault never had if `isKnown` is false.
    func deletion(
        _ id: String, waitsFor: Set<String> = [], isKnown: Bool = true
    ) throws -> SyncRequest {
        let record = try record(id)
        return SyncRequest(
            key: record.key, attributes: record.attributes, action: .delete(before(record)),
            owner: isKnown ? owner(sending: "") : nil, hasKnownValue: false,
            agreed: Scope(targets: []), waitsFor: waitsFor)
    }

    /// Returns a record as it is stored.
    func record(_ id: String) throws -> MemoryPlatform.Record {
        guard let place = platform.index(id) else { throw MissingRecord(id: id) }
        return platform.records[place]
    }

    private func before(_ record: MemoryPlatform.Record) -> SyncRequest.Before {
        let time = record.updatedAt
        return .init(
            id: record.id, updatedAt: kind == .shared ? time : time / 1_000 * 1_000,
            kind: record.attributes.kind)
    }
}

struct MissingRecord: Error { let id: String }

extension RequestOutcome {
    /// The end in a word, with its reason.
    var summary: String {
        switch end {
        case .verified: "verified"
        case .unverified: "unverified"
        case .conflict(let reason): "conflict: \(reason)"
        case .failed(let reason, _): "failed: \(reason)"
        }
    }
}
