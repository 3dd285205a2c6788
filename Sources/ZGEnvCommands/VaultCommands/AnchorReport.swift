internal import JSON
internal import Vault

/// What keyring and state directory say of the newest generation that was seen.
struct AnchorReport {
    private(set) var verdicts: [AnchorKeeper.Place: AnchorVerdict] = [:]
    /// Generations seen that speak against the vault.
    private(set) var against: [VaultPosition] = []
    /// Who has seen them, for people.
    private(set) var witnesses: [String] = []
    /// What each of them says, in the order of the places.
    private(set) var objections: [CommandError] = []

    /// The failure of a command that must not take an older copy for the vault.
    var failure: CommandError? { objections.first }

    /// Looks, and moves anchors on.
    ///
    /// - Parameter keys: Open the index.
    init(_ session: VaultSession, with keys: VaultKeys) throws {
        let places = try session.anchorPlaces()
        for place in AnchorKeeper.Place.allCases {
            // Without a slot in the keyring nothing is kept there.
            guard places.contains(place) else {
                verdicts[place] = .unavailable
                continue
            }
            var finding = try session.judge(place, with: keys)
            if keys.opensValues, finding.verdict.isAccepted, let seen = finding.seen {
                // Of the file that was judged, which may be newer than the one read before.
                let index = try session.opened().index(with: keys, extent: .currentValues)
                if index.checkpointGeneration < seen.checkpointGeneration {
                    finding.verdict = .olderCheckpoint
                }
            }
            verdicts[place] = finding.verdict
            if finding.verdict == .unreadable {
                session.warnOfUnreadableAnchor(place, of: try session.opened().header.vaultID)
            }
            guard !finding.verdict.isAccepted, let seen = finding.seen else { continue }
            against.append(seen.position)
            witnesses.append("the \(place.name) (generation \(seen.position.generation))")
            objections.append(try session.anchorFailure(finding))
        }
    }

    /// `{"keyring","stateDirectory"}`.
    var json: JSONValue {
        [
            "keyring": .string(orNull: verdicts[.keyring]?.rawValue),
            "stateDirectory": .string(orNull: verdicts[.stateDirectory]?.rawValue),
        ]
    }

    /// For people, one line a place.
    var lines: [String] {
        AnchorKeeper.Place.allCases.map { place in
            "Older copy, by the \(place.name): \((verdicts[place] ?? .unavailable).text)"
        }
    }
}
