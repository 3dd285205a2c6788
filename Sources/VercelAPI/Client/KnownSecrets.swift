package import Sealing
internal import Searching

/// The secrets that a command has at hand: before anybody sees what the platform says, it is held
/// against them.
package final class KnownSecrets {
    /// Values that were sent, and those that answers brought.
    private(set) var met: [SecretSlice] = []
    private let open: () -> [SecretSlice]?

    /// Takes the way to the values that the caller keeps.
    ///
    /// - Parameter open: Opens them for one look, after which they are dropped; nil where they are
    ///   locked. It must ask nobody.
    package init(open: @escaping () -> [SecretSlice]? = { nil }) {
        self.open = open
    }

    /// Adds values that were sent, or that an answer brought.
    package func meet(_ values: some Sequence<SecretSlice>) {
        met.append(contentsOf: values)
    }

    /// The caller's own values; nil where they are locked.
    func opened() -> [SecretSlice]? { open() }
}

/// What the texts of one answer are held against.
package final class AnswerSecrets {
    /// Which of the platform's own words may be shown.
    enum Trust {
        /// Those that repeat no secret that is known.
        case checked
        /// The same, and only where all the caller's values could be held against them: what a write
        /// of variables is answered with may repeat a value that was not sent.
        case checkedAgainstAll
        /// None: what is read may be a value that nobody here has seen yet.
        case none
    }

    /// Names of variables, targets and branches, which may be told even where a value is the same,
    /// as in `NODE_ENV=production`.
    let names: Set<String>
    private let trust: Trust
    private let sent: [SecretSlice]
    private let known: KnownSecrets
    /// Opened at the first text, and dropped with the answer.
    private lazy var opened = known.opened()

    /// For an answer to a request that carried nothing but `sent`.
    package convenience init(_ sent: [SecretSlice], names: Set<String> = []) {
        self.init(sent, names: names, trust: .checked, known: KnownSecrets())
    }

    /// Names all parts.
    init(_ sent: [SecretSlice], names: Set<String>, trust: Trust, known: KnownSecrets) {
        self.sent = sent
        self.names = names.union(["production", "preview", "development"])
        self.trust = trust
        self.known = known
    }

    /// Whether a text can be held against enough to be shown.
    var canCheck: Bool {
        switch trust {
        case .checked: true
        case .checkedAgainstAll: opened != nil
        case .none: false
        }
    }

    /// Whether `text` repeats one of the secrets. A value that is the same as one of the names does not
    /// count: the name may be told anyway.
    func repeats(_ text: String) -> Bool {
        var forms = RepeatedForms(of: text)
        func isRepeated(_ secret: SecretSlice) -> Bool { forms.hold(secret) && !isName(secret) }
        return sent.contains(where: isRepeated) || known.met.contains(where: isRepeated)
            || (opened ?? []).contains(where: isRepeated)
    }

    private func isName(_ secret: SecretSlice) -> Bool {
        secret.withBytes { bytes in
            names.contains { name in
                name.utf8.count == bytes.byteCount
                    && zip(name.utf8, 0...).allSatisfy { $0 == bytes.byte(at: $1) }
            }
        }
    }
}
