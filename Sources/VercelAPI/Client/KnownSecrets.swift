package import Sealing
internal import Searching

/// The secrets that a command knows. Vercel's texts are checked against them before they are shown.
package final class KnownSecrets {
    /// The values that were sent or received.
    private(set) var met: [SecretSlice] = []
    /// Returns the caller's own values, or nil if they are locked.
    let open: () -> [SecretSlice]?

    /// - Parameter open: Returns the caller's own values for one check, after which they are
    ///   dropped; nil if they are locked. It must not prompt.
    package init(open: @escaping () -> [SecretSlice]? = { nil }) {
        self.open = open
    }

    /// Adds values that were sent or received.
    package func meet(_ values: some Sequence<SecretSlice>) {
        met.append(contentsOf: values)
    }
}

/// The secrets that the texts of one response are checked against.
package final class ResponseSecrets {
    /// Which of Vercel's texts may be shown.
    enum Trust {
        /// Those that contain no known secret.
        case checked
        /// The same, but only if all the caller's values are available for the check: the response
        /// to a write of variables may contain a value that was not sent.
        case checkedAgainstAll
        /// None: the response to a read may contain a value that is not known here.
        case none
    }

    /// Names of variables, targets and branches, which may be shown even if a value is equal to
    /// one, as in `NODE_ENV=production`.
    let names: Set<String>
    private let trust: Trust
    private let sent: [SecretSlice]
    private let known: KnownSecrets
    /// Opened for the first text, and released with the response.
    private lazy var opened = known.open()

    /// Creates the secrets for the response to a request that contained nothing but `sent`.
    package convenience init(_ sent: [SecretSlice], names: Set<String> = []) {
        self.init(sent, names: names, trust: .checked, known: KnownSecrets())
    }

    init(_ sent: [SecretSlice], names: Set<String>, trust: Trust, known: KnownSecrets) {
        self.sent = sent
        self.names = names.union(["production", "preview", "development"])
        self.trust = trust
        self.known = known
    }

    /// Whether enough values are available to check a text.
    var canCheck: Bool {
        switch trust {
        case .checked: true
        case .checkedAgainstAll: opened != nil
        case .none: false
        }
    }

    /// Returns whether `text` contains one of the secrets. A value that is equal to one of the
    /// names does not count, because the name may be shown anyway.
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
