internal import JSON

/// The content of a sealed event: names, never the value of a variable.
///
/// `docs/postal-protocol.md` describes the form. Whatever comes from a relay is untrusted:
/// ``init(sealedText:)`` rejects what is too long or malformed.
package struct PostalEvent: Codable, Equatable, Sendable {
    package struct Project: Codable, Equatable, Sendable {
        package var id: String
        package var name: String?

        package init(id: String, name: String?) { (self.id, self.name) = (id, name) }
    }

    package struct Deployment: Codable, Equatable, Sendable {
        package var id: String
        /// Host name without a scheme.
        package var url: String?
        package var target: String?
        package var branch: String?
        /// First line of the commit message.
        package var commit: String?
        package var author: String?

        package init(
            id: String, url: String? = nil, target: String? = nil, branch: String? = nil,
            commit: String? = nil, author: String? = nil
        ) {
            (self.id, self.url, self.target) = (id, url, target)
            (self.branch, self.commit, self.author) = (branch, commit, author)
        }
    }

    package struct Variable: Codable, Equatable, Sendable {
        package var id: String?
        package var key: String?

        package init(id: String?, key: String?) { (self.id, self.key) = (id, key) }
    }

    package static let currentVersion = 1
    /// Most bytes of the sealed text.
    package static let byteLimit = 4_096
    /// Most Unicode scalars of a text.
    package static let textLimit = 200
    /// The sealed text is padded to a multiple of this, so that its length reveals little.
    package static let padding = 256

    package var version: Int
    /// Vercel's id of the event, used to detect duplicates.
    package var id: String
    package var type: PostalEventType
    /// Vercel's clock, in milliseconds since 1970.
    package var createdAt: Int64
    /// The team's id, or the user's without a team.
    package var account: String
    package var project: Project?
    package var deployment: Deployment?
    package var variable: Variable?

    package init(
        id: String, type: PostalEventType, createdAt: Int64, account: String,
        project: Project? = nil, deployment: Deployment? = nil, variable: Variable? = nil
    ) {
        (version, self.id, self.type) = (Self.currentVersion, id, type)
        (self.createdAt, self.account) = (createdAt, account)
        (self.project, self.deployment, self.variable) = (project, deployment, variable)
    }

    /// The padded text to seal; nil if longer than ``byteLimit``.
    package var sealedText: [UInt8]? {
        guard let data = try? JSONEncoder().encode(self) else { return nil }
        let rest = (Self.padding - data.count % Self.padding) % Self.padding
        guard data.count + rest <= Self.byteLimit else { return nil }
        return data + [UInt8](repeating: UInt8(ascii: " "), count: rest)
    }

    /// Parses an opened event. Returns nil if it is malformed, newer, too long or contains control
    /// characters.
    package init?(sealedText text: [UInt8]) {
        guard !text.isEmpty, text.count <= Self.byteLimit,
            let event = try? JSONDecoder().decode(Self.self, from: text),
            event.version <= Self.currentVersion, event.texts.allSatisfy(Self.isPlain)
        else { return nil }
        self = event
    }

    /// Returns the first line of a text from Vercel, without control characters, cut to
    /// ``textLimit`` scalars.
    package static func plainText(_ text: String) -> String {
        let line = text.unicodeScalars.prefix(textLimit * 4).prefix { $0 != "\n" && $0 != "\r" }
        return String(String.UnicodeScalarView(line.filter { !isControl($0) }.prefix(textLimit)))
    }

    private var texts: [String] {
        [
            id, account, project?.id, project?.name, deployment?.id, deployment?.url,
            deployment?.target, deployment?.branch, deployment?.commit, deployment?.author,
            variable?.id, variable?.key,
        ].compactMap(\.self)
    }

    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.count <= textLimit && !text.unicodeScalars.contains(where: isControl)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
