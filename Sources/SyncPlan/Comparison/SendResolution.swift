/// What a fresh listing says about requests whose outcome was not known.
///
/// A request that was carried out is what both sides agree on from then on, as if its response had
/// arrived. If the platform does not show the value that was sent, the record is *doubtful*: it may
/// be ours, so its targets are no conflict, but the value is sent again.
struct SendResolution: Equatable {
    /// The agreements, with those of requests that were carried out.
    private(set) var agreements: [Agreement?]
    /// The records, by index, that may or may not have the value that was sent.
    private(set) var doubtful: Set<Int> = []
    /// The requests, by index, that stay open: the listing may hide their record, or it is doubtful
    /// until the value was sent again.
    private(set) var open: [Int] = []

    init(_ state: KeyState) {
        agreements = state.agreements
        for (number, send) in state.sends.enumerated() {
            if send.targets.isEmpty {
                resolveDeletion(number, send, state)
            } else if let place = Self.result(of: send, state) {
                resolve(number, send, as: place, state)
            } else if !state.isListingComplete,
                send.before.map({ before in !state.records.contains { $0.id == before.record } })
                    ?? true
            {
                open.append(number)
            }
        }
    }

    /// Returns the record that a request may have made, as an index.
    private static func result(of send: OpenSend, _ state: KeyState) -> Int? {
        state.records.indices.first { place in
            let record = state.records[place]
            let isNamed =
                send.before.map { $0.record == record.id && $0.witness != record.witness }
                ?? !state.agreements.contains { $0?.record == record.id }
            // As agreed, it is the result of a later request.
            let isAgreed = state.agreements.contains {
                $0?.record == record.id && $0?.witness == record.witness
            }
            return isNamed && !isAgreed && record.owner != .platform
                && record.targets == send.targets
                && record.comment == send.comment
                // A team's policy may make a variable sensitive, whatever was asked for.
                && (record.type == send.type || !record.type.isReadable)
        }
    }

    private mutating func resolve(
        _ number: Int, _ send: OpenSend, as place: Int, _ state: KeyState
    ) {
        let record = state.records[place]
        switch record.value {
        case .equal(let version):
            guard version == send.version else { return }
        case .differs:
            // A value that the vault does not have cannot be compared.
            guard send.version?.isReadable != true, record.mayBeOurs else { return }
        case .unknown:
            guard record.mayBeOurs else { return }
            // What was not sent cannot have changed by this request.
            if send.sendsValue {
                doubtful.insert(place)
                open.append(number)
            }
        }
        release(send)
        guard let version = send.version, !doubtful.contains(place) else { return }
        for target in send.agreed {
            agreements[target.position] = Agreement(
                record: record.id, witness: record.witness,
                content: Content(version, record.type, comment: record.comment))
        }
    }

    /// Ends the agreements of what a request took away. A later request may have given it to another
    /// record.
    private mutating func release(_ send: OpenSend) {
        for target in send.released
        where agreements[target.position]?.record == send.before?.record {
            agreements[target.position] = nil
        }
    }

    private mutating func resolveDeletion(_ number: Int, _ send: OpenSend, _ state: KeyState) {
        guard let before = send.before, !state.records.contains(where: { $0.id == before.record })
        else { return }
        guard state.isListingComplete else {
            open.append(number)
            return
        }
        release(send)
    }
}
