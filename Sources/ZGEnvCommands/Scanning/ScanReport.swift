internal import CommandLineKit
internal import JSON
internal import Searching

/// Reports the findings of `scan` and the paths that could not be scanned.
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
            : " \(skipped.count) \(skipped.count == 1 ? "path" : "paths") could not be scanned completely."
        if !findings.isEmpty {
            let count = findings.count
            result.failure = CommandError(
                .failed,
                "Found values from the vault in \(count) \(count == 1 ? "place" : "places").\(unseen)",
                hint: isStaged
                    ? "Remove the values from the staged content. Rotate values that were committed before: zg-env rotate KEY"
                    : "Remove these values. Rotate values that others may have seen: zg-env rotate "
                        + "KEY"
            )
        } else if !skipped.isEmpty {
            result.failure = CommandError(
                .failed, "Nothing was found, but the scan is incomplete.\(unseen)",
                hint: "Make these files readable, or scan a directory without them.")
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
