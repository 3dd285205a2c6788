package import EnvSchema

/// What a check found for one declared variable, or for one that is not declared.
package struct SchemaResult: Equatable, Sendable {
    /// Where it was looked for.
    package enum Side: String, CaseIterable, Sendable {
        case vault
        /// What Vercel has now, which the next deployment gets.
        case vercel
        /// What the deployment that serves the target was built with.
        case live
    }

    package enum State: String, CaseIterable, Sendable {
        case ok
        /// Not there, but the schema has a default.
        case `default`
        /// Not there, but somebody else supplies it: a function of the schema, or Vercel itself.
        case elsewhere
        case missing
        case empty
        /// Still the text that the schema shows as an example.
        case placeholder
        /// Does not match the type.
        case invalid
        /// There, but not in the schema.
        case undeclared
        /// There, but it should no longer be used.
        case deprecated
        /// It could not be found out.
        case unknown
        /// Not there, and a function of the schema decides whether it is required.
        case depends
    }

    /// How much it matters.
    package enum Level: String, Comparable, CaseIterable, Sendable {
        case problem, warning, info, ok

        private var rank: Int {
            switch self {
            case .problem: 0
            case .warning: 1
            case .info: 2
            case .ok: 3
            }
        }

        package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
    }

    package let key: String
    package let target: String
    package let side: Side
    package let state: State
    package let isRequired: Bool
    /// More about the state, in a few words without values; nil if the state says it all.
    package let why: String?
    package let level: Level
    /// Nil for a variable that is not declared, and for a group.
    package let item: SchemaItem?
}
