package import Vault

/// What the platform's records of a project hold, as far as it can be known.
package enum RotationStanding: Equatable, Sendable {
    /// The value of a record, held against both values of a rotation.
    package enum Shown: Sendable {
        case new
        case old
        case other
        /// The platform does not show it.
        case hidden
    }

    /// The new value.
    case holdsNew
    /// Provably another value than the new one; why, as a part of a sentence.
    case holdsOther(String)
    /// It cannot be known; why, as a part of a sentence.
    case unknown(String)

    /// Judges one record.
    ///
    /// - Parameters:
    ///   - variable: The vault's record, with what was agreed with the platform.
    ///   - record: The platform's record now; nil where it is gone.
    ///   - newVersion: The version that the rotation has pushed.
    ///   - account: The platform's id of the user whose token it is; empty when unknown.
    package init(
        of variable: Variable, _ record: PlatformRecord?, shown: Shown, newVersion: UInt64,
        account: String
    ) {
        let key = variable.name
        guard let agreed = variable.remote else {
            self = .unknown("the vault does not know Vercel's record of \(key)")
            return
        }
        guard let record else {
            self = .holdsOther("\(key) was removed on Vercel")
            return
        }
        let isOwn = record.author == account
        let who = record.author.map { isOwn ? " by you, elsewhere" : " by \($0)" } ?? ""
        let isMoved = record.updatedAt != agreed.agreedUpdatedAt
        let isInPlace =
            record.key == agreed.key && record.attributes.scope == agreed.agreed.scope
        switch shown {
        case .new where !isInPlace:
            self = .unknown("\(key) was given another name or other targets on Vercel\(who)")
        case .new: self = .holdsNew
        case .old: self = .holdsOther("\(key) was set back to the old value on Vercel\(who)")
        case .other: self = .holdsOther("\(key) was set to another value on Vercel\(who)")
        case .hidden where !isMoved && agreed.pushedVersion == newVersion: self = .holdsNew
        case .hidden:
            // Of a change of name, scope or comment alone the value would be as it was.
            let isSame = isInPlace && record.attributes.comment == agreed.agreed.comment
            let isForeign = record.author != nil && !account.isEmpty && !isOwn
            self =
                isForeign && isSame && record.updatedAt > agreed.agreedUpdatedAt
                ? .holdsOther("\(key) was changed on Vercel after the push\(who)")
                : .unknown(
                    "\(key) was changed on Vercel after the push\(who), and its value is not shown")
        }
    }

    /// Joins those of the records of a project.
    package static func joined(_ standings: [RotationStanding]) -> RotationStanding {
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
            ? .holdsOther(reason) : .unknown("\(reason), in one record of several")
    }
}
