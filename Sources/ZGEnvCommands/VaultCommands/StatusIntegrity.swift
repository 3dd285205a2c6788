internal import CommandLineKit
internal import JSON
internal import Vault

/// The changes made while the values were locked, for `status` and `verify`.
struct StatusChanges {
    let changes: ChangesText
    private let isChecked: Bool

    /// - Parameters:
    ///   - index: Decoded with the checkpoint.
    ///   - isChecked: Whether the checkpoint's authentication code was checked, which needs the values.
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
            : "not verified, because the values are locked; zg-env unlock verifies the changes and asks you to accept them"
        var text = "\(changes.sentence) (\(remark)):\n"
        for line in changes.lines() { text += "  \(DisplayText.safe(sentence: line))\n" }
        return text
    }
}

/// The state of the audit log for `status`. Problems of the log fail `verify` and `log`, not `status`.
struct AuditStatus {
    private let report: AuditReport?
    private let problem: String?
    private let path: String?
    /// Whether the log is at a path that the user chose.
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

    /// `{"whole","lines","path","elsewhere"}`; the first two are null if the log cannot be read.
    var json: JSONValue {
        [
            "whole": .bool(orNull: report?.isWhole),
            "lines": .integer(orNull: report.map { Int64($0.entryCount) }),
            "path": .string(orNull: path), "elsewhere": .bool(isElsewhere),
        ]
    }

    var line: String {
        let place = isElsewhere ? ", at \(safe(path)) (--audit-log or ZG_ENV_AUDIT_LOG)" : ""
        guard let report else { return "Audit log cannot be read: \(safe(problem))\(place)\n" }
        if report.isWhole { return "Audit log \(report.wholeText)\(place)\n" }
        return "Audit log NOT INTACT: \(safe(problem)) (see: zg-env log)\(place)\n"
    }

    private func safe(_ text: String?) -> String { DisplayText.safe(sentence: text ?? "") }
}
