internal import CommandLineKit
internal import JSON
internal import Vault

/// The text and the JSON of changes made while the values were locked.
struct ChangesText {
    /// The most lines of one list.
    static let lineLimit = 10
    /// The most lines of a summary for one project.
    static let summaryLimit = 3

    private let changes: [CheckpointComparison.Change]
    private let projects: [Identifier: String]
    private let writes: [Identifier: LockedWrite]

    /// - Parameter index: The complete index that was compared.
    init(_ comparison: CheckpointComparison, in index: VaultIndex) {
        changes = comparison.changes
        projects = Dictionary(
            index.projects.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        var writes: [Identifier: LockedWrite] = [:]
        for write in index.metadata.lockedWrites {
            for variable in write.variables { writes[variable] = write }
        }
        self.writes = writes
    }

    var count: Int { changes.count }

    /// "1 variable was changed …", "3 variables were changed …".
    var sentence: String {
        let isVariables = changes.allSatisfy { $0.object.kind == .variable }
        let noun = isVariables ? "variable" : "change"
        let verb = isVariables ? "changed" : "made"
        return
            "\(DisplayText.count(count, noun)) \(count == 1 ? "was" : "were") \(verb) while the values were locked"
    }

    // MARK: Details

    /// Returns one line for each change, up to `limit`; not yet safe for a terminal.
    func lines(limit: Int = lineLimit) -> [String] {
        var lines = changes.prefix(limit).map { change in
            guard let scope = change.scope else { return Self.line(change, projects) }
            let project = name(of: change).map { "\($0)  " } ?? ""
            return "\(project)\(change.name)  \(scope.description): \(Self.text(change.kind))"
        }
        if changes.count > limit { lines.append("and \(changes.count - limit) more") }
        return lines
    }

    /// `[{"kind","key","project","targets",…,"name","changes","command","time"}]`.
    var json: JSONValue {
        .array(
            changes.map { change in
                let isVariable = change.object.kind == .variable
                let write = isVariable ? writes[change.object.id] : nil
                return [
                    "kind": .string(Self.word(change.object.kind)),
                    "key": .string(orNull: isVariable ? change.name : nil),
                    "project": .string(orNull: name(of: change)),
                    "targets": .strings(change.scope?.targets.names ?? []),
                    "customEnvironments": .strings(change.scope?.customEnvironments ?? []),
                    "branch": .string(orNull: change.scope?.branch),
                    "name": .string(orNull: isVariable ? nil : change.name),
                    "changes": .strings(Self.words(change.kind)),
                    "command": .string(orNull: write?.command),
                    "time": .time(orNull: write.map { Int64(clamping: $0.time) }),
                ]
            })
    }

    private func name(of change: CheckpointComparison.Change) -> String? {
        change.project.flatMap { projects[$0] }
    }

    private static func word(_ kind: CoveredObject.Kind) -> String {
        switch kind {
        case .project: "project"
        case .variable: "variable"
        case .account: "account"
        case .directory: "directory"
        case .journalEntry: "journal"
        case .setting: "setting"
        }
    }

    private static func words(_ kind: CheckpointComparison.Kind) -> [String] {
        switch kind {
        case .added: ["added"]
        case .removed: ["removed"]
        case .changed(let fields): shown(fields).map(\.rawValue)
        }
    }

    /// Leaves out the history where the value changed, which always changes it.
    private static func shown(
        _ fields: [CheckpointComparison.Field]
    ) -> [CheckpointComparison.Field] {
        fields.contains(.version) ? fields.filter { $0 != .versions } : fields
    }

    private static func text(_ kind: CheckpointComparison.Kind) -> String {
        switch kind {
        case .added: return "added"
        case .removed: return "removed"
        case .changed(let fields):
            let words = shown(fields).map { field in
                switch field {
                case .version: "value"
                case .versions: "history"
                case .environments: "custom environments"
                case .remoteID: "variable on Vercel"
                case .inUse: "use"
                case .highest: "highest version number"
                default: field.rawValue
                }
            }
            return words.joined(separator: ", ") + " changed"
        }
    }

    // MARK: Summary

    /// Returns a summary by project and command: at most three lines for the variables of a project, and
    /// one for each project, account, directory, setting and journal entry; not yet safe for a terminal.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func summary(now: UInt64) -> [String] {
        var lines = changes.filter { $0.object.kind != .variable }.map {
            Self.line($0, projects)
        }
        let records = changes.filter { $0.object.kind == .variable }
        let byProject = Dictionary(grouping: records) { name(of: $0) ?? "" }
        for (project, records) in byProject.sorted(by: { $0.key < $1.key }) {
            let groups = Dictionary(grouping: records) { record in
                Group(of: record, by: writes[record.object.id])
            }.sorted { ($1.key.time, $0.key.title) < ($0.key.time, $1.key.title) }
            let isLong = groups.count > Self.summaryLimit
            let shown = groups.prefix(isLong ? Self.summaryLimit - 1 : Self.summaryLimit)
            for (group, records) in shown {
                lines.append("\(project): \(group.text(records, now: now))")
            }
            let rest = groups.dropFirst(shown.count).reduce(0) { $0 + $1.value.count }
            if rest > 0 {
                lines.append(
                    "\(project): and \(DisplayText.count(rest, "more change")) (zg-env status)")
            }
        }
        return lines
    }

    /// Changes of one kind by one write.
    private struct Group: Hashable {
        let title: String
        let command: String?
        let time: UInt64

        init(of change: CheckpointComparison.Change, by write: LockedWrite?) {
            title =
                change.newVersionCount > 1 && change.kind != .added
                ? "\(change.newVersionCount) values" : ChangesText.text(change.kind)
            (command, time) = (write?.command, write?.time ?? 0)
        }

        func text(_ records: [CheckpointComparison.Change], now: UInt64) -> String {
            let who =
                command.map { "by \($0.isEmpty ? "zg-env" : $0)" }
                ?? "by an unrecorded command"
            let age =
                command == nil
                ? ""
                : time > now
                    ? ", at an unknown time"
                    : ", \(TimeText.age(of: Int64(clamping: time), at: Int64(clamping: now)))"
            let names = records.count == 1 ? records[0].name : "\(records.count) variables"
            return "\(names): \(title) \(who)\(age)"
        }
    }

    /// Returns the line for a change of anything but a variable.
    private static func line(
        _ change: CheckpointComparison.Change, _ projects: [Identifier: String]
    ) -> String {
        let title = "\(word(change.object.kind)) \(change.name)"
        switch (change.accepted, change.current) {
        case (.project(let old)?, .project(let new)?):
            var parts: [String] = []
            if old.name != new.name { parts.append("renamed from \(old.name)") }
            if old.binding != new.binding { parts.append(binding(old.binding, new.binding)) }
            return "\(title): \(parts.joined(separator: ", "))"
        case (nil, .project(let new)?):
            return "\(title): added"
                + (new.binding.map { ", linked to \($0.projectName) at \($0.origin)" } ?? "")
        case (.account(let old)?, .account(let new)?):
            let origin = old.origin == new.origin ? nil : "origin \(old.origin) → \(new.origin)"
            let rest = text(change.kind)
            return "\(title): \([origin, rest].compactMap(\.self).joined(separator: ", "))"
        case (nil, .account(let new)?): return "\(title): added, for \(new.origin)"
        case (_, .directory(let new)?):
            let project = projects[new.vaultProject] ?? new.project
            return "\(title): approved for \(project)"
        case (_, .journalEntry(let new)?):
            let what = new.kind == 4 ? "registration with a relay" : "unfinished write to Vercel"
            return "\(what) \(change.accepted == nil ? "added" : "changed")"
        case (.setting(let old)?, .setting(let new)?):
            return "\(title): \(old.value) → \(new.value)"
        case (nil, .setting(let new)?): return "\(title): set to \(new.value)"
        case (.journalEntry?, nil): return "journal entry removed"
        default: return "\(title): \(text(change.kind))"
        }
    }

    private static func binding(
        _ old: VaultProject.Binding?, _ new: VaultProject.Binding?
    ) -> String {
        guard let new else { return "no longer linked" }
        guard let old else { return "linked to \(new.projectName) at \(new.origin)" }
        if old.origin != new.origin { return "origin \(old.origin) → \(new.origin)" }
        if old.projectID != new.projectID {
            return
                "linked to \(new.projectName) (\(new.projectID)), was \(old.projectName) (\(old.projectID))"
        }
        return "linked through another user or team"
    }
}
