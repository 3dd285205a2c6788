internal import CommandLineKit
internal import JSON
internal import Vault

/// What `status` and `verify` say of changes made while the values were locked.
struct StatusChanges {
    /// The changes for people and scripts.
    let changes: ChangesText
    private let isChecked: Bool

    /// - Parameters:
    ///   - index: Decoded with the checkpoint.
    ///   - isChecked: Whether its code was checked, which takes the values open.
    init(_ index: VaultIndex, isChecked: Bool) {
        changes = ChangesText(CheckpointComparison(of: index), in: index)
        self.isChecked = isChecked
    }

    var members: [JSONValue.Member] {
        [.init("changedWhileLocked", changes.json), .init("changesChecked", .bool(isChecked))]
    }

    var text: String {
        guard changes.count > 0 else { return "" }
        let remark =
            isChecked
            ? "accept them with: zg-env unlock --accept-changes"
            : "not checked, since the values are locked; zg-env unlock checks and asks"
        var text = "\(changes.sentence) (\(remark)):\n"
        for line in changes.lines() { text += "  \(DisplayText.safe(sentence: line))\n" }
        return text
    }
}

/// What `status` says of the audit log. That it is not whole fails `verify` and `log`, not `status`.
struct AuditStatus {
    private let report: AuditReport?
    private let problem: String?
    private let path: String?
    /// Whether the user named another place than the state directory.
    private let isElsewhere: Bool

    init(_ session: VaultSession, _ keys: VaultKeys, _ index: VaultIndex) {
        path = try? session.auditLog().path
        isElsewhere = session.options.auditLogPath != nil
        do {
            let report = try session.auditReport(with: keys, index: index)
            self.report = report
            problem = report.problems.first?.message
        } catch {
            report = nil
            problem = CommandError(mapping: error).message
        }
    }

    /// `{"whole","lines","path","elsewhere"}`; the first two are null where the log cannot be read.
    var json: JSONValue {
        [
            "whole": .bool(orNull: report?.isWhole),
            "lines": .integer(orNull: report.map { Int64($0.entryCount) }),
            "path": .string(orNull: path), "elsewhere": .bool(isElsewhere),
        ]
    }

    var line: String {
        let place = isElsewhere ? ", in \(safe(path)) (--audit-log or ZG_ENV_AUDIT_LOG)" : ""
        guard let report else { return "Audit log cannot be read: \(safe(problem))\(place)\n" }
        if report.isWhole {
            let lines = report.entryCount == 1 ? "1 line" : "\(report.entryCount) lines"
            return "Audit log \(report.isThere ? "\(lines), whole" : "none yet")\(place)\n"
        }
        return "Audit log NOT WHOLE: \(safe(problem)) (see: zg-env log)\(place)\n"
    }

    private func safe(_ text: String?) -> String { DisplayText.safe(sentence: text ?? "") }
}
