internal import JSON

/// What a device reads once it has opened a sealed event: names alone, never the value of a variable.
///
/// `docs/postal-protocol.md` has its form. What comes from a relay is hostile until it is read:
/// ``init(sealedText:)`` takes nothing that is too long or not of this form.
package struct PostalEvent: Codable, Equatable, Sendable {
    /// The project that it happened in.
    package struct Project: Codable, Equatable, Sendable {
        package var id: String
        package var name: String?

        package init(id: String, name: String?) { (self.id, self.name) = (id, name) }
    }

    /// The deployment that it happened to.
    package struct Deployment: Codable, Equatable, Sendable {
        package var id: String
        /// Host name, without a scheme.
        package var url: String?
        package var target: String?
        package var branch: String?
        /// The commit message's first line.
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

    /// The variable that it happened to.
    package struct Variable: Codable, Equatable, Sendable {
        package var id: String?
        package var key: String?

        package init(id: String?, key: String?) { (self.id, self.key) = (id, key) }
    }

    /// The newest form that this program reads.
    package static let currentVersion = 1
    /// Most bytes of the text that is sealed.
    package static let byteLimit = 4_096
    /// Texts end here, in characters as Unicode scalars.
    package static let textLimit = 200
    /// The sealed text's length is a multiple of this, so that lengths say little.
    package static let padding = 256

    package var version: Int
    /// The platform's id of the event, by which the same one is known again.
    package var id: String
    package var type: PostalEventType
    /// By the platform's clock, in milliseconds since 1970.
    package var createdAt: Int64
    /// The team's id, or the user's where there is no team.
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

    /// The text to be sealed, padded; nil where it would be longer than ``byteLimit``.
    package var sealedText: [UInt8]? {
        guard let data = try? JSONEncoder().encode(self) else { return nil }
        let rest = (Self.padding - data.count % Self.padding) % Self.padding
        guard data.count + rest <= Self.byteLimit else { return nil }
        return data + [UInt8](repeating: UInt8(ascii: " "), count: rest)
    }

    /// Reads an opened event; nil for what has another form, is newer, too long, or holds control
    /// characters.
    package init?(sealedText text: [UInt8]) {
        guard !text.isEmpty, text.count <= Self.byteLimit,
            let event = try? JSONDecoder().decode(Self.self, from: text),
            event.version <= Self.currentVersion, event.texts.allSatisfy(Self.isPlain)
        else { return nil }
        self = event
    }

    /// Cuts a text of the platform to what an event may hold: its first line, without control
    /// characters, at most ``textLimit`` scalars.
    package static func plainText(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(textLimit * 4) {
            if scalar == "\n" || scalar == "\r" { break }
            guard !isControl(scalar) else { continue }
            scalars.append(scalar)
            if scalars.count == textLimit { break }
        }
        return String(scalars)
    }

    private var texts: [String?] {
        [
            id, account, project?.id, project?.name, deployment?.id, deployment?.url,
            deployment?.target, deployment?.branch, deployment?.commit, deployment?.author,
            variable?.id, variable?.key,
        ]
    }

    private static func isPlain(_ text: String?) -> Bool {
        guard let text else { return true }
        var count = 0
        for scalar in text.unicodeScalars {
            count += 1
            if count > textLimit || isControl(scalar) { return false }
        }
        return true
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
