internal import CommandLineKit
internal import JSON
internal import Searching

/// What `scan` says: where something was found, and what could not be looked at.
struct ScanReport {
    private let work: ScanWork
    private let selection: ScanSelection
    private let isStaged: Bool

    init(_ work: ScanWork, _ selection: ScanSelection, isStaged: Bool) {
        (self.work, self.selection, self.isStaged) = (work, selection, isStaged)
    }

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
                        "\(path):\(match.line): \(owner.key) (\(owner.project)\(version), \(match.form.rawValue))"
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
                            "reason": .string($0.reason), "begun": .bool($0.isBegun),
                        ]
                    }),
                "leftOut": .array(
                    selection.leftOut.map {
                        ["key": .string($0.key), "project": .string($0.project)]
                    }),
            ], text: text)
        for file in skipped.prefix(20) where !workspace.options.json {
            let path = String(decoding: file.path, as: UTF8.self)
            let part = file.isBegun ? " to its end" : ""
            workspace.context.warn(
                "not-scanned", "\(path) was not looked at\(part): \(file.reason).")
        }
        if skipped.count > 20, !workspace.options.json {
            workspace.context.warn(
                "not-scanned", "\(skipped.count - 20) more were not looked at; --json names them.")
        }
        let unseen =
            skipped.isEmpty ? "" : " \(skipped.count) could not be looked at, or not to the end."
        if !findings.isEmpty {
            let count = findings.count
            result.failure = CommandError(
                .failed,
                "Values of the vault were found in \(count) \(count == 1 ? "place" : "places").\(unseen)",
                hint: isStaged
                    ? "Take them out of what is staged; what was committed before must be replaced."
                    : "Take them out. What others may have seen must be replaced: zg-env rotate KEY"
            )
        } else if !skipped.isEmpty {
            result.failure = CommandError(
                .failed, "Nothing was found, but not all was looked at.\(unseen)",
                hint: "Make it readable, or name a directory without it.")
        }
        return result
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
