internal import CommandLineKit
internal import JSON
internal import Searching

/// Reports the findings of `scan` and the paths that could not be scanned.
struct ScanReport {
    private let work: ScanWork
    private let selection: ScanSelection
    private let isStaged: Bool
    /// Whether earlier values were included.
    private let hasHistory: Bool

    init(_ work: ScanWork, _ selection: ScanSelection, isStaged: Bool, hasHistory: Bool) {
        (self.work, self.selection) = (work, selection)
        (self.isStaged, self.hasHistory) = (isStaged, hasHistory)
    }

    static let fields = """
        findings: [{
            file: string; line: number; key, project: string; form: \(oneOf: ValueForm.self)
            staged: boolean; version?: number (of an earlier value)
        }]
        filesScanned, bytesScanned: number
        skipped: [{ file, reason: string; begun: boolean (whether a part was scanned) }]
        leftOut: [{ key, project: string }]
        """

    func result(_ workspace: Workspace) -> CommandResult {
        var findings: [JSONValue] = []
        var text = ""
        for found in work.texts {
            let path = String(decoding: found.path, as: UTF8.self)
            for match in found.matches {
                for owner in selection.owners[match.value] {
                    findings.append(json(path, match, owner))
                    let version = owner.earlierVersion.map { ", version \($0)" } ?? ""
                    text += DisplayText.safe(
                        "\(path):\(match.line): \(owner.key) (project \(owner.project)\(version), \(match.form.title))"
                    )
                    text += "\n"
                }
            }
        }
        let skipped = work.skipped
        var result = CommandResult(
            json: [
                "findings": .array(findings), "filesScanned": .integer(Int64(work.fileCount)),
                "bytesScanned": .integer(Int64(clamping: work.byteCount)),
                "skipped": .array(
                    skipped.map {
                        [
                            "file": .string(String(decoding: $0.path, as: UTF8.self)),
                            "reason": .string($0.reason), "begun": .bool($0.isPartial),
                        ]
                    }),
                "leftOut": .array(
                    selection.leftOut.map {
                        ["key": .string($0.key), "project": .string($0.project)]
                    }),
            ], text: text)
        for file in skipped.prefix(20) where !workspace.options.json {
            let path = String(decoding: file.path, as: UTF8.self)
            let part = file.isPartial ? " completely" : ""
            workspace.context.warn(
                "not-scanned", "\(path) was not scanned\(part): \(file.reason).")
        }
        if skipped.count > 20, !workspace.options.json {
            workspace.context.warn(
                "not-scanned", "\(skipped.count - 20) more were not scanned (--json lists all).")
        }
        let unseen =
            skipped.isEmpty
            ? ""
            : " \(DisplayText.count(skipped.count, "path")) could not be scanned completely."
        if !findings.isEmpty {
            result.failure = CommandError(
                .failed,
                "Found values from the vault in \(DisplayText.count(findings.count, "place")).\(unseen)",
                hint: (isStaged
                    ? "Remove the values from the staged content. Rotate values that were committed before: zg-env rotate KEY."
                    : "Remove these values. Rotate values that others may have seen: zg-env rotate KEY.")
                    + " Skip a variable that is not secret with --except KEY."
            )
        } else if !skipped.isEmpty {
            result.failure = CommandError(
                .failed, "Nothing was found, but the scan is incomplete.\(unseen)",
                hint: "Make these files readable, or scan a directory without them.")
        }
        if result.failure == nil { workspace.note(nothingFound) }
        return result
    }

    /// What was searched without a finding.
    private var nothingFound: String {
        let files = DisplayText.count(work.fileCount, isStaged ? "staged file" : "file")
        let values = DisplayText.count(selection.owners.count, "value")
        let found = "Found none of \(values) in \(files)."
        return hasHistory
            ? "\(found) The values include earlier ones; git's history was not searched." : found
    }

    private func json(
        _ path: String, _ match: ScanMatch, _ owner: ScanValues.Owner
    ) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("file", .string(path)), .init("line", .integer(Int64(clamping: match.line))),
            .init("key", .string(owner.key)), .init("project", .string(owner.project)),
            .init("form", .string(match.form.rawValue)), .init("staged", .bool(isStaged)),
        ]
        if let version = owner.earlierVersion {
            members.append(.init("version", .integer(Int64(clamping: version))))
        }
        return .object(members)
    }
}

extension Searching.ValueForm {
    /// The form in a line for people.
    fileprivate var title: String { self == .plain ? "plain text" : rawValue }
}
