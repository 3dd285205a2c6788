package import Vault

/// One operation of a change. Layout: `docs/group-format.md`, section 4.
package enum Operation: Equatable, Sendable {
    case create(Creation)
    /// A new value, whose chunk is in the change.
    case value(NewValue)
    /// An existing version becomes the value.
    case choose(ChangeReference)
    /// The record goes out of use.
    case remove
    case comment(String?)
    /// Seconds after which the value should be replaced, 0 for never.
    case reminder(UInt64)
    case type(VariableAttributes.Kind)
    case scope(Scope)
    case name(String)
    case projectName(String)
    case binding(GroupBinding?)
    case claim(Claim)
    /// Whether a rotation begins or ends.
    case rotation(Bool)
    case settle(Settlement)

    /// A new variable.
    package struct Creation: Equatable, Sendable {
        package let name: String
        package let type: VariableAttributes.Kind
        package let scope: Scope
        package let comment: String?
        package let reminder: UInt64

        package init(
            name: String, type: VariableAttributes.Kind, scope: Scope, comment: String? = nil,
            reminder: UInt64 = 0
        ) {
            self.name = name
            self.type = type
            self.scope = scope
            self.comment = comment
            self.reminder = reminder
        }
    }

    /// A sealed value.
    package struct NewValue: Equatable, Sendable {
        /// Random; the version id depends on it and on the author.
        package let seed: Identifier
        /// The name that the value is sealed for.
        package let sealedName: String
        /// The size of the chunk in bytes.
        package let chunkByteCount: Int

        package init(seed: Identifier, sealedName: String, chunkByteCount: Int) {
            self.seed = seed
            self.sealedName = sealedName
            self.chunkByteCount = chunkByteCount
        }
    }

    /// What a member says that Vercel holds.
    package struct Claim: Equatable, Sendable {
        package let version: ChangeReference
        package let remoteID: String
        package let key: String
        package let type: VariableAttributes.Kind
        package let scope: Scope
        /// Vercel's time of change.
        package let updatedAt: UInt64

        package init(
            version: ChangeReference, remoteID: String, key: String,
            type: VariableAttributes.Kind, scope: Scope, updatedAt: UInt64
        ) {
            self.version = version
            self.remoteID = remoteID
            self.key = key
            self.type = type
            self.scope = scope
            self.updatedAt = updatedAt
        }
    }
}

/// A decision about what a person who left could read.
package struct Settlement: Hashable, Sendable {
    /// What is settled.
    package enum Matter: UInt8, Sendable {
        /// A record needs no replacement.
        case record = 1
        /// A member who can write was not seen since, which is accepted.
        case silence = 2
    }

    package let matter: Matter
    /// The person, or the member, who left.
    package let subject: Identifier
    /// The record, or the silent member.
    package let object: Identifier
    package let reason: String

    package init(matter: Matter, subject: Identifier, object: Identifier, reason: String) {
        self.matter = matter
        self.subject = subject
        self.object = object
        self.reason = reason
    }

    // Texts are compared by their bytes: two that only look alike are two decisions, for everybody.

    package static func == (left: Settlement, right: Settlement) -> Bool {
        left.matter == right.matter && left.subject == right.subject && left.object == right.object
            && left.reason.utf8.elementsEqual(right.reason.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(matter)
        hasher.combine(subject)
        hasher.combine(object)
        for byte in reason.utf8 { hasher.combine(byte) }
    }
}

/// What an operation assigns: one candidate of each remains, unless members disagree.
package enum Assigned: UInt8, Hashable, Sendable, CaseIterable {
    case name, type, scope, comment, reminder, value, projectName, binding, claim, rotation
}

extension Operation {
    /// Which number the format has for it.
    package var kind: UInt8 {
        switch self {
        case .create: 1
        case .value: 2
        case .choose: 3
        case .remove: 4
        case .comment: 5
        case .reminder: 6
        case .type: 7
        case .scope: 8
        case .name: 9
        case .projectName: 10
        case .binding: 11
        case .claim: 12
        case .rotation: 13
        case .settle: 14
        }
    }

    /// What it assigns, of its record or of the project.
    package var assigned: [Assigned] {
        switch self {
        case .create: [.name, .type, .scope, .comment, .reminder]
        case .value, .choose, .remove: [.value]
        case .comment: [.comment]
        case .reminder: [.reminder]
        case .type: [.type]
        case .scope: [.scope]
        case .name: [.name]
        case .projectName: [.projectName]
        case .binding: [.binding]
        case .claim: [.claim]
        case .rotation: [.rotation]
        case .settle: []
        }
    }

    /// Whether only the authority key may sign it.
    package var needsAuthority: Bool {
        switch self {
        case .choose, .name, .projectName, .binding, .claim, .rotation, .settle: true
        default: false
        }
    }
}
