package import Vault

/// What Vercel's records of a project contain, as far as can be known.
package enum RotationRemoteValue: Equatable, Sendable {
    /// The value of a record, compared with both values of a rotation.
    package enum Shown: Sendable {
        case new
        case old
        case other
        /// Vercel does not show it.
        case hidden
    }

    case holdsNew
    /// Certainly a different value; with the reason as a clause.
    case holdsOther(String)
    /// Unknown; with the reason as a clause.
    case unknown(String)

    /// Judges one record.
    ///
    /// - Parameters:
    ///   - variable: The vault's record, with the state agreed with Vercel.
    ///   - record: Vercel's current record; nil if it is gone.
    ///   - newVersion: The version that the rotation pushed.
    ///   - account: Vercel's id of the token's user; empty if unknown.
    package init(
        of variable: Variable, _ record: VercelRecord?, shown: Shown, newVersion: UInt64,
        account: String
    ) {
        let key = variable.name
        guard let agreed = variable.remote else {
            self = .unknown("the vault has no record of \(key) on Vercel")
            return
        }
        guard let record else {
            self = .holdsOther("\(key) was removed on Vercel")
            return
        }
        let isOwn = record.author == account
        let who = record.author.map { isOwn ? " by your account" : " by \($0)" } ?? ""
        let isMoved = record.updatedAt != agreed.agreedUpdatedAt
        let isInPlace =
            record.key == agreed.key && record.attributes.scope == agreed.agreed.scope
        switch shown {
        case .new where !isInPlace:
            self = .unknown("\(key) was renamed or given other targets on Vercel\(who)")
        case .new: self = .holdsNew
        case .old: self = .holdsOther("\(key) was set back to the old value on Vercel\(who)")
        case .other: self = .holdsOther("\(key) was set to a different value on Vercel\(who)")
        case .hidden where !isMoved && agreed.pushedVersion == newVersion: self = .holdsNew
        case .hidden:
            // A change of only the name, scope or comment would not change the value.
            let isSame = isInPlace && record.attributes.comment == agreed.agreed.comment
            let isForeign = record.author != nil && !account.isEmpty && !isOwn
            self =
                isForeign && isSame && record.updatedAt > agreed.agreedUpdatedAt
                ? .holdsOther("\(key) was changed on Vercel after the push\(who)")
                : .unknown(
                    "\(key) was changed on Vercel after the push\(who), and its value is not shown")
        }
    }

    /// Combines the results for the records of a project.
    package static func joined(_ standings: [RotationRemoteValue]) -> RotationRemoteValue {
        var others: [String] = []
        for standing in standings {
            switch standing {
            case .unknown: return standing
            case .holdsOther(let reason): others.append(reason)
            case .holdsNew: break
            }
        }
        guard let reason = others.first else { return .holdsNew }
        return others.count == standings.count
            ? .holdsOther(reason) : .unknown("\(reason), for only some of its targets")
    }
}
