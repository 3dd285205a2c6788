internal import CommandLineKit
package import Sealing
package import Vault

/// Finds likely mistakes in the variables of a project: always by names and scopes, and by values
/// if they are unlocked. Findings contain no part of a value.
package struct ProjectCheck {
    package struct Finding: Equatable, Sendable {
        /// The kind of finding, for scripts.
        package let code: Code
        /// The affected variables, each `KEY` or `KEY (scope)`.
        package let variables: [String]
        /// One sentence.
        package let message: String
        /// What to do about it.
        package let remedy: String
    }

    package enum Code: String, CaseIterable, Sendable {
        case emptyValue = "empty-value"
        case blankAtEnds = "blank-at-ends"
        case quotesAround = "quotes-around"
        case escapedQuotes = "escaped-quotes"
        case invisibleAtEnds = "invisible-at-ends"
        case placeholder
        case ciphertext = "encrypted-value"
        case cutPEM = "cut-pem"
        case nodeEnvironment = "node-env"
        case unfitForHeader = "unfit-for-header"
        case reservedName = "reserved-name"
        case overPlatformLimit = "over-platform-limit"
        case namesDifferByCase = "names-differ-by-case"
        case publicPrefix = "public-prefix"
        case sameSecret = "same-secret"
        case publicSecret = "public-secret"
        case unused
    }

    /// A variable and its value.
    package struct Subject {
        package let variable: Variable
        /// The value; nil if it is locked or the vault has none.
        package let value: SecretSlice?

        package init(variable: Variable, value: SecretSlice?) {
            self.variable = variable
            self.value = value
        }
    }

    private let project: String
    private let subjects: [Subject]

    /// - Parameters:
    ///   - project: The project's name, for the remedies.
    ///   - subjects: The live variables.
    package init(project: String, subjects: [Subject]) {
        self.project = project
        self.subjects = subjects.sorted {
            ($0.variable.name, $0.variable.attributes.scope.description)
                < ($1.variable.name, $1.variable.attributes.scope.description)
        }
    }

    /// Returns all findings.
    package func findings() -> [Finding] {
        subjects.flatMap { ofValue($0) } + namesDifferingByCase() + publicNames() + sameSecrets()
            + unused()
    }

    // MARK: One variable

    private func ofValue(_ subject: Subject) -> [Finding] {
        guard let value = subject.value else { return [] }
        let name = subject.variable.name
        let label = Self.label(subject.variable)
        let remedy = "zg-env set \(word: name) -p \(word: project), or zg-env edit \(word: name)"
        return value.withBytes { bytes in
            var found: [Finding] = []
            for warning in ValueWarning.warnings(
                about: bytes, of: name, label: label, in: subject.variable.attributes.scope)
            {
                guard let code = Self.code(warning.code) else { continue }
                // Key files end with a line break, and programs expect it.
                if code == .blankAtEnds, Self.isWholePEM(bytes) { continue }
                found.append(
                    Finding(
                        code: code, variables: [label], message: warning.message, remedy: remedy))
            }
            if Self.hasEscapedQuotes(bytes) {
                found.append(
                    Finding(
                        code: .escapedQuotes, variables: [label],
                        message:
                            "The value of \(label) looks like JSON whose quotes were escaped one time too many.",
                        remedy: remedy))
            }
            return found
        }
    }

    /// Returns whether a text starts with a PEM block and ends with one line break after the last
    /// block.
    private static func isWholePEM(_ bytes: RawSpan) -> Bool {
        let (begin, end) = (Array("-----BEGIN ".utf8), Array("-----\n".utf8))
        let count = bytes.byteCount
        guard count > begin.count + end.count else { return false }
        return begin.indices.allSatisfy { bytes.byte(at: $0) == begin[$0] }
            && end.indices.allSatisfy { bytes.byte(at: count - end.count + $0) == end[$0] }
    }

    /// Returns whether a text starts like a JSON object or list with a backslash before its first
    /// quote.
    private static func hasEscapedQuotes(_ bytes: RawSpan) -> Bool {
        guard bytes.byteCount > 3, [0x7B, 0x5B].contains(bytes.byte(at: 0)) else { return false }
        var place = 1
        while place < bytes.byteCount,
            [0x20, 0x09, 0x0A, 0x0D, 0x7B, 0x5B].contains(
                bytes.byte(at: place))
        {
            place += 1
        }
        return place + 1 < bytes.byteCount && bytes.byte(at: place) == 0x5C
            && bytes.byte(at: place + 1) == 0x22
    }

    // MARK: Names

    private func namesDifferingByCase() -> [Finding] {
        let names = Set(subjects.map(\.variable.name))
        return Dictionary(grouping: names) { $0.uppercased() }.values.filter { $0.count > 1 }
            .map { $0.sorted() }.sorted { $0[0] < $1[0] }.map { names in
                Finding(
                    code: .namesDifferByCase, variables: names,
                    message: "\(Self.joined(names)) differ only in case.",
                    remedy:
                        "Keep the one that programs read, and remove the other: zg-env rm KEY -p \(word: project)"
                )
            }
    }

    private func publicNames() -> [Finding] {
        Set(subjects.map(\.variable.name)).sorted().filter { name in
            ValueWarning.hasPublicPrefix(name) && ValueWarning.looksSecret(name)
        }.map { name in
            Finding(
                code: .publicPrefix, variables: [name],
                message:
                    "\(name) looks like a secret, and its prefix exposes it to browsers.",
                remedy: "Replace the secret, and give it a name without that prefix.")
        }
    }

    /// Returns a finding for each record that no environment uses.
    private func unused() -> [Finding] {
        subjects.compactMap { subject in
            let scope = subject.variable.attributes.scope
            guard let reason = Self.reasonUnused(scope) else { return nil }
            let label = Self.label(subject.variable)
            return Finding(
                code: .unused, variables: [label],
                message: "\(label) is not used anywhere: \(reason).",
                remedy:
                    "zg-env set \(word: subject.variable.name) -p \(word: project) -t TARGET, or zg-env rm \(word: subject.variable.name) -p \(word: project)"
            )
        }
    }

    private static func reasonUnused(_ scope: Scope) -> String? {
        if scope.isEmpty { return "it has no target" }
        // An environment that Vercel no longer lists keeps its id instead of a name.
        let isGone = { (name: String) in name.hasPrefix("env_") && name.utf8.count > 20 }
        guard scope.targets.isEmpty, scope.customEnvironments.allSatisfy(isGone) else { return nil }
        return "Vercel no longer lists its custom environment"
    }

    // MARK: The same value twice

    private func sameSecrets() -> [Finding] {
        var groups: [[Subject]] = []
        for candidates in Dictionary(
            grouping: subjects.filter { Self.mayBeSecret($0) }, by: { $0.value?.count ?? 0 }
        ).values {
            var ofLength: [[Subject]] = []
            for subject in candidates {
                let place = ofLength.firstIndex { Self.haveSameValue($0[0], subject) }
                if let place {
                    ofLength[place].append(subject)
                } else {
                    ofLength.append([subject])
                }
            }
            groups += ofLength
        }
        return groups.compactMap { group -> Finding? in
            let names = Set(group.map(\.variable.name)).sorted()
            guard names.count > 1 else { return nil }
            let open = names.filter(ValueWarning.hasPublicPrefix)
            if let shown = open.first, let hidden = names.first(where: { !open.contains($0) }),
                ValueWarning.looksSecret(hidden)
            {
                return Finding(
                    code: .publicSecret, variables: names,
                    message:
                        "\(shown) has the same value as \(hidden), and its prefix exposes it to browsers.",
                    remedy: "Replace the secret, and remove \(shown).")
            }
            return Finding(
                code: .sameSecret, variables: names,
                message: "\(Self.joined(names)) have the same value.",
                remedy: "Keep only one of them, or always replace their values together.")
        }.sorted { ($0.variables[0], $0.code.rawValue) < ($1.variables[0], $1.code.rawValue) }
    }

    /// Returns whether a value may be a secret. Short values and plain words are often equal by
    /// chance or on purpose.
    private static func mayBeSecret(_ subject: Subject) -> Bool {
        guard let value = subject.value, value.count >= 12 else { return false }
        if ValueWarning.looksSecret(subject.variable.name) { return true }
        return value.withBytes { bytes in
            var (letters, digits, others) = (false, false, false)
            for offset in 0..<min(bytes.byteCount, 4_096) {
                switch bytes.byte(at: offset) {
                case 0x30...0x39: digits = true
                case 0x41...0x5A, 0x61...0x7A: letters = true
                case 0x2B, 0x2D, 0x2E, 0x2F, 0x3D, 0x5F, 0x0A: break
                default: others = true
                }
            }
            return letters && digits && !others && bytes.byteCount >= 20
        }
    }

    /// Returns the code of a warning about a value. Names are checked once per name, below.
    private static func code(_ code: ValueWarning.Code) -> Code? {
        switch code {
        case .emptyValue: .emptyValue
        case .blankAtEnds: .blankAtEnds
        case .invisibleAtEnds: .invisibleAtEnds
        case .quotesAround: .quotesAround
        case .placeholder: .placeholder
        case .ciphertext: .ciphertext
        case .cutPEM: .cutPEM
        case .nodeEnvironment: .nodeEnvironment
        case .unfitForHeader: .unfitForHeader
        case .reservedName: .reservedName
        case .overPlatformLimit: .overPlatformLimit
        case .publicPrefix: nil
        }
    }

    private static func haveSameValue(_ left: Subject, _ right: Subject) -> Bool {
        guard let left = left.value, let right = right.value else { return false }
        return left.equals(right)
    }

    // MARK: Words

    private static func label(_ variable: Variable) -> String {
        "\(variable.name) (\(variable.attributes.scope.description))"
    }

    private static func joined(_ names: [String]) -> String {
        names.count < 2
            ? names.joined()
            : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
    }
}
