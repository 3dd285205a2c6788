internal import CommandLineKit
internal import Vault

extension AuditReport.Problem {
    /// The code in JSON.
    var code: String {
        switch self {
        case .damaged: "damaged"
        case .missing: "missing"
        case .cut: "cut"
        case .replaced: "replaced"
        }
    }

    /// A sentence without its full stop.
    var message: String {
        switch self {
        case .damaged(let line):
            "line \(line) of the file was changed, moved or inserted by someone without the key"
        case .missing(let range): "\(Self.lines(range)) missing, but later lines exist"
        case .cut(let range):
            "\(Self.lines(range)) missing: the log was truncated or is kept elsewhere"
        case .replaced(let sequence):
            "line \(sequence) does not match the vault's record: lines were removed and others "
                + "inserted"
        }
    }

    private static func lines(_ range: ClosedRange<UInt64>) -> String {
        range.count == 1
            ? "line \(range.lowerBound) is"
            : "lines \(range.lowerBound) to \(range.upperBound) are"
    }
}

extension AuditReport {
    /// The state of an intact log.
    var wholeText: String {
        isThere ? "\(DisplayText.count(entryCount, "line")), intact" : "none yet"
    }

    /// Returns the failure for a log with problems; nil for an intact one.
    func failure(of log: AuditLog) -> CommandError? {
        guard let first = problems.first else { return nil }
        let count = problemCount - 1
        let more = count > 0 ? ", and \(DisplayText.count(count, "more problem"))" : ""
        return CommandError(
            .damaged, "The audit log \(log.path) is not intact: \(first.message)\(more).",
            hint: "Show the log with: zg-env log. If you know the reason, accept the log with: "
                + "zg-env log --accept")
    }
}

extension VaultSession {
    /// Checks the chain of the audit log up to the position that the vault recorded.
    ///
    /// - Parameter index: An index of any extent.
    func auditReport(with keys: VaultKeys, index: VaultIndex) throws -> AuditReport {
        try auditLog().verify(with: keys, index: index)
    }
}
