internal import Threads

/// The register as this relay has read it from its stream.
final class RegisterCache: Sendable {
    /// A record with its message.
    struct Kept<Record: Sendable>: Sendable {
        var record: Record
        var sequence: Int64
        /// When it was written, in milliseconds since 1970.
        var time: Int64
    }

    private struct State {
        var devices: [String: Kept<DeviceRecord>] = [:]
        var members: [String: Set<String>] = [:]
        var acknowledgements: [String: Kept<AcknowledgementRecord>] = [:]
        /// By subject.
        var invites: [String: Kept<InviteRecord?>] = [:]
    }

    private let names: NATSNames
    private let state = Monitor(State())

    init(_ names: NATSNames) { self.names = names }

    /// Applies a message; returns the device that it removed.
    func take(_ message: StreamFollower.Message) -> String? {
        let name = NATSNames.last(of: message.subject)
        let (sequence, time) = (message.sequence, message.time)
        switch message.subject {
        case names.device(name):
            // An unreadable record is not a device; listing reports it as damage.
            let record = DeviceRecord(message.data) ?? DeviceRecord(phase: .removed)
            return state.look { state in
                let old = state.devices[name]?.record
                for account in old?.accounts ?? [] { state.members[account]?.remove(name) }
                state.devices[name] = Kept(record: record, sequence: sequence, time: time)
                if record.phase == .removed {
                    state.acknowledgements[name] = nil
                    return old?.phase == .active ? name : nil
                }
                for account in record.accounts {
                    state.members[account, default: []].insert(name)
                }
                return nil
            }
        case names.acknowledgement(name):
            guard let record = AcknowledgementRecord(message.data) else { return nil }
            state.look { state in
                guard state.devices[name]?.record.phase != .removed else { return }
                state.acknowledgements[name] = Kept(
                    record: record, sequence: sequence, time: time)
            }
        default:
            guard message.subject.hasPrefix("\(names.prefix).r.i.") else { return nil }
            let record = InviteRecord(message.data)
            state.look { state in
                state.invites[message.subject] = Kept(
                    record: record, sequence: sequence, time: time)
            }
        }
        return nil
    }

    func device(_ id: String) -> Kept<DeviceRecord>? { state.look { $0.devices[id] } }

    func acknowledgement(of id: String) -> Kept<AcknowledgementRecord>? {
        state.look { $0.acknowledgements[id] }
    }

    /// Returns a registered device; nil for any other phase.
    func active(_ id: String) -> Device? {
        state.look { Self.active(id, $0) }
    }

    /// All devices in the order in which they joined.
    func active() -> [Device] {
        state.look { state in
            state.devices.compactMap { id, kept in
                Self.active(id, state).map { ($0, kept.sequence) }
            }.sorted { one, two in
                (one.0.joinedAt, one.1) < (two.0.joinedAt, two.1)
            }.map(\.0)
        }
    }

    private static func active(_ id: String, _ state: State) -> Device? {
        guard let record = state.devices[id]?.record, record.phase == .active else { return nil }
        let had = state.acknowledgements[id]?.record.number ?? 0
        return Device(
            id: id, tokenDigest: record.tokenDigest, publicKey: record.publicKey,
            accounts: record.accounts, joinedAt: record.joinedAt, start: record.start,
            acknowledged: max(record.start, had))
    }

    /// The recipients of an account's events, in the order of names.
    func recipients(of account: String) -> [(name: RecipientName, id: String, key: [UInt8])] {
        state.look { state in
            (state.members[account] ?? []).compactMap { id in
                state.devices[id].map { (RecipientName(device: id), id, $0.record.publicKey) }
            }
        }.sorted { $0.0 < $1.0 }
    }

    /// The accounts that have devices.
    var accounts: [String] {
        state.look { $0.members.filter { !$0.value.isEmpty }.map(\.key) }
    }

    /// Number of unclaimed invites.
    func openInvites() -> Int {
        state.look { state in
            state.invites.values.count { ($0.record ?? nil).map { $0.claim == nil } ?? false }
        }
    }

    /// Returns subjects that can be deleted: invites that expired or were used, names of devices
    /// removed more than an hour ago, and their acknowledgements.
    func useless(now: Int64) -> [String] {
        state.look { state in
            var subjects: [String] = []
            for (subject, kept) in state.invites {
                guard let record = kept.record else {
                    if kept.time < now - 3_600_000 { subjects.append(subject) }
                    continue
                }
                // An hour later, so that a running join has ended.
                if record.expiresAt <= now - 3_600_000 { subjects.append(subject) }
            }
            for (id, kept) in state.devices
            where kept.record.phase == .removed && kept.time < now - 3_600_000 {
                subjects += [names.acknowledgement(id), names.device(id)]
            }
            return subjects
        }
    }

    /// Forgets a subject that was deleted from the stream.
    func forget(_ subject: String) {
        let name = NATSNames.last(of: subject)
        state.look { state in
            state.invites[subject] = nil
            if subject == names.device(name) { state.devices[name] = nil }
            if subject == names.acknowledgement(name) { state.acknowledgements[name] = nil }
        }
    }
}
