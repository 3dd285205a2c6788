/// The attributes of a variable besides its name and value.
package struct VariableAttributes: Equatable, Sendable {
    /// How Vercel stores a value.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// Visible in every listing.
        case plain = 1
        /// Readable on request.
        case encrypted = 2
        /// Never readable again.
        case sensitive = 3
        /// The name of a system variable, resolved at deploy time.
        case system = 4
        /// A reference of a deprecated kind.
        case secret = 5

        /// Vercel's name for the kind.
        package var name: String {
            switch self {
            case .plain: "plain"
            case .encrypted: "encrypted"
            case .sensitive: "sensitive"
            case .system: "system"
            case .secret: "secret"
            }
        }

        /// Types from weak to strict.
        package var strictness: Int {
            switch self {
            case .plain: 0
            case .system: 1
            case .secret: 2
            case .encrypted: 3
            case .sensitive: 4
            }
        }

        /// Reads a type.
        package static func decode(from reader: inout ByteReader) throws(VaultError) -> Kind {
            guard let kind = Kind(rawValue: try reader.byte()) else {
                throw VaultError(damaged: .encoding, "a variable has an unknown type")
            }
            return kind
        }

        package init?(name: some StringProtocol) {
            guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = kind
        }
    }

    package var kind: Kind
    package var scope: Scope
    package var comment: String?

    package init(kind: Kind, scope: Scope, comment: String? = nil) {
        self.kind = kind
        self.scope = scope
        self.comment = comment
    }

    func encode(into writer: inout ByteWriter) {
        writer.byte(kind.rawValue)
        scope.encode(into: &writer)
        writer.optionalText(comment)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> VariableAttributes {
        VariableAttributes(
            kind: try Kind.decode(from: &reader), scope: try Scope.decode(from: &reader),
            comment: try reader.optionalText(limit: VaultFormat.commentLimit))
    }
}
