/// Which answer of the platform is meant: what was asked, of whom, by whom.
package struct AnswerAddress: Hashable, Sendable {
    /// What was asked for.
    package enum Subject: Hashable, Sendable {
        /// All projects of the scope.
        case projects
        /// The newest deployments of a project, by its id, as far as the filter lets them through; those
        /// of the whole scope where the id is empty.
        case deployments(project: String, filter: String)
        /// The shared variables that a project uses, by its id.
        case sharedVariables(project: String)
        /// That the platform could not be reached.
        case outage
    }

    /// The API's origin.
    package let origin: String
    /// Whose token was used: another login or another token is another account here.
    package let account: String
    /// The team, as requests name it; empty for the owner of the token.
    package let scope: String
    /// What was asked for.
    package let subject: Subject

    /// Names all parts.
    package init(origin: String, account: String, scope: String, subject: Subject) {
        self.origin = origin
        self.account = account
        self.scope = scope
        self.subject = subject
    }

    /// The same askers and asked with another subject.
    package func asking(_ subject: Subject) -> AnswerAddress {
        AnswerAddress(origin: origin, account: account, scope: scope, subject: subject)
    }

    private var texts: [String] {
        [origin, account, scope]
            + {
                switch subject {
                case .projects: ["projects", "", ""]
                case .deployments(let project, let filter): ["deployments", project, filter]
                case .sharedVariables(let project): ["shared-variables", project, ""]
                case .outage: ["outage", "", ""]
                }
            }()
    }

    /// Six texts, each behind its length as u32. Another address has other bytes.
    var bytes: [UInt8] {
        texts.flatMap { text in
            let bytes = Array(text.utf8)
            return Self.bytes(of: UInt32(clamping: bytes.count)) + bytes
        }
    }

    /// Reads what ``bytes`` made; nil for anything else.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        var texts: [String] = []
        while !rest.isEmpty, texts.count < 6 {
            guard let count = Self.number(rest.prefix(4)), count <= rest.count - 4,
                let text = String(
                    validating: rest.dropFirst(4).prefix(count), as: UTF8.self)
            else { return nil }
            texts.append(text)
            rest = rest.dropFirst(4 + count)
        }
        guard texts.count == 6, rest.isEmpty else { return nil }
        let subject: Subject
        switch (texts[3], texts[4], texts[5]) {
        case ("projects", "", ""): subject = .projects
        case ("deployments", let project, let filter):
            subject = .deployments(project: project, filter: filter)
        case ("shared-variables", let project, ""): subject = .sharedVariables(project: project)
        case ("outage", "", ""): subject = .outage
        default: return nil
        }
        self.init(origin: texts[0], account: texts[1], scope: texts[2], subject: subject)
    }

    /// Little-endian.
    static func bytes(of number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Reads four bytes, little-endian; nil for any other number of them.
    static func number(_ bytes: some Collection<UInt8>) -> Int? {
        guard bytes.count == 4 else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
