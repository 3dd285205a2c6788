internal import JSON
internal import Vault

/// What the rollback guards in the keyring and the state directory say about the vault.
struct RollbackReport {
    private(set) var verdicts: [RollbackGuards.Place: RollbackVerdict] = [:]
    /// The recorded positions that the vault does not descend from.
    private(set) var against: [VaultPosition] = []
    /// The places that recorded them, for messages.
    private(set) var witnesses: [String] = []
    /// The failure of each place, in the order of the places.
    private(set) var objections: [CommandError] = []

    /// The failure for a command that must not accept an older copy.
    var failure: CommandError? { objections.first }

    /// Checks every place and updates the guards that are behind.
    init(_ session: VaultSession, with keys: VaultKeys) throws {
        let places = try session.guardPlaces()
        for place in RollbackGuards.Place.allCases {
            // The keyring has a guard only where the vault has a slot there.
            guard places.contains(place) else {
                verdicts[place] = .unavailable
                continue
            }
            let finding = try session.judge(place, with: keys)
            verdicts[place] = finding.verdict
            if finding.verdict == .unreadable {
                session.warnAboutUnreadableGuard(place, of: try session.opened().header.vaultID)
            }
            guard !finding.verdict.isAccepted else { continue }
            objections.append(try session.rollbackFailure(finding))
            guard let seen = finding.seen else { continue }
            against.append(seen.position)
            witnesses.append("the \(place.name) (generation \(seen.position.generation))")
        }
    }

    static let fields = "keyring, stateDirectory: \(oneOf: RollbackVerdict.self) | null"

    var json: JSONValue {
        [
            "keyring": .string(orNull: verdicts[.keyring]?.rawValue),
            "stateDirectory": .string(orNull: verdicts[.stateDirectory]?.rawValue),
        ]
    }

    /// One line for each place, for people.
    var lines: [String] {
        RollbackGuards.Place.allCases.map { place in
            "Rollback guard in the \(place.name): \((verdicts[place] ?? .unavailable).text)"
        }
    }
}
