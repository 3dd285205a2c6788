internal import CommandLineKit
internal import Groups
internal import JSON
internal import Sealing
internal import SharedProjects
internal import SystemFiles
internal import Vault

/// A statement about what somebody knew, in a file that an admin signs. Contains no values.
///
/// A Markdown file is the statement for people, followed by the JSON file on one line; `verify`
/// compares the two.
struct ExposureReport {
    /// The signed text: JSON as `group exposure --json` prints it, with the group's id.
    private let statement: String
    private let member: String
    private let signature: String

    private static let limit = 16 << 20

    /// Signs a statement.
    init(
        _ found: JSONValue, group: GroupHash, member: Identifier,
        signedBy key: borrowing SigningKeyPair
    ) {
        let groupID: JSONValue = .string(group.hexadecimal)
        let all: JSONValue = ["groupID": groupID, "statement": found]
        statement = all.encodedText
        self.member = member.hexadecimal
        signature = Hexadecimal.text(
            of: Self.signedBytes(statement).withBytes { key.signature(of: $0) })
    }

    /// - Throws: ``ExitCode/damaged`` if the file is not a report.
    init(reading path: String) throws {
        guard var bytes = OpenFile.wholeBytes(of: path, limit: Self.limit) else {
            throw CommandError(.usage, "Cannot read the report \(path).")
        }
        let isMarkdown = bytes.first != UInt8(ascii: "{")
        let text = String(validating: bytes, as: UTF8.self)
        if isMarkdown {
            let lines = (text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            guard let fence = lines.firstIndex(of: "```json"), fence + 1 < lines.count else {
                throw Self.invalid(path)
            }
            bytes = Array(lines[fence + 1].utf8)
        }
        guard let value = try? JSONValue(parsing: bytes), let statement = value["report"]?.string,
            let member = value["member"]?.string, let signature = value["signature"]?.string
        else { throw Self.invalid(path) }
        (self.statement, self.member, self.signature) = (statement, member, signature)
        if isMarkdown, markdown != text { throw Self.invalid(path) }
    }

    private static func invalid(_ path: String) -> CommandError {
        CommandError(
            .damaged, "\(path) is not a report of zg-env group exposure, or was changed.")
    }

    private static func signedBytes(_ statement: String) -> [UInt8] {
        GroupLabel.report.bytes + Array(statement.utf8)
    }

    // MARK: Checking

    /// Returns the statement if an admin of the group signed it.
    ///
    /// - Throws: ``ExitCode/damaged`` for another signature, ``ExitCode/notFound`` if this vault does
    ///   not belong to the group.
    func checked(_ workspace: Workspace) throws -> (statement: JSONValue, signer: String) {
        let content = try? JSONValue(parsing: Array(statement.utf8))
        guard let content, let found = content["statement"],
            let group = content["groupID"]?.string
        else { throw CommandError(.damaged, "The report has no signed statement.") }
        let index = try workspace.session.index(.everything, with: .values)
        guard
            let membership = try GroupMembership.all(in: index).first(where: {
                $0.group.hexadecimal == group
            })
        else {
            throw CommandError(
                .notFound, "The report is about a group that this vault does not belong to.")
        }
        let chain = try GroupAccess(membership, workspace).view().chain
        let signers = chain.linksInOrder.flatMap { link in
            link.state.members.filter {
                $0.key.hexadecimal == member && $0.value.rights.role == .admin
            }.values
        }
        let bytes = Self.signedBytes(statement) + (Hexadecimal.bytes(of: signature) ?? [])
        guard
            let signer = signers.first(where: { signer in
                bytes.withBytes { SigningKeyPair.isSigned($0, by: signer.keys.authority) }
            })
        else {
            throw CommandError(
                .damaged, "No admin of \(membership.name) signed this version of the report.")
        }
        return (found, signer.name)
    }

    static let fields = "ok: true; signedBy: string; report: {zg-env group exposure}"

    /// What `verify --report` prints.
    func result(_ workspace: Workspace) throws -> CommandResult {
        let (found, signer) = try checked(workspace)
        let isSettled = found["isSettled"]?.bool == true
        let who = found["who"]?.string ?? ""
        let text = """
            Signed by \(signer), an admin of \(found["group"]?.string ?? ""), as of \
            \(found["asOf"]?.string ?? ""): \
            \(isSettled ? "everything that \(who) could read was replaced or accepted." : "not everything that \(who) could read was replaced.")
            """
        return CommandResult(
            json: ["ok": true, "signedBy": .string(signer), "report": found],
            text: DisplayText.safe(sentence: text) + "\n")
    }

    // MARK: Writing

    var json: String {
        let value: JSONValue = [
            "report": .string(statement), "member": .string(member),
            "signature": .string(signature),
        ]
        return value.encodedText
    }

    /// The report for people, with the signed one.
    var markdown: String {
        let found = (try? JSONValue(parsing: Array(statement.utf8)))?["statement"] ?? .null
        func text(_ value: JSONValue?) -> String {
            DisplayText.safe(value?.string ?? "").replacing("|", with: "\\|")
        }
        func replacement(_ row: JSONValue) -> String {
            guard let time = row["replacedAt"]?.string else { return "" }
            guard let rotation = row["rotation"]?.string else { return text(.string(time)) }
            let proof = row["proof"]?.string ?? "none"
            return text(
                .string("\(time), rotation \(rotation.prefix(8)), proof: \(proof)"))
        }
        var lines = [
            "# What \(text(found["who"])) could read in \(text(found["group"]))", "",
            "As of \(text(found["asOf"])), state words: \(text(found["stateWords"])).", "",
            found["isSettled"]?.bool == true
                ? "Everything was replaced or accepted." : "**Not everything was replaced.**",
            "", "| variable | project | targets | values | known since | state | replaced |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in found["variables"]?.array ?? [] {
            lines.append(
                "| \(text(row["key"])) | \(text(row["project"])) | \(text(row["scope"])) | "
                    + "\(row["versions"]?.integer ?? 0) | \(text(row["since"])) | "
                    + "\(text(row["state"])) | \(replacement(row)) |")
        }
        for name in found["unusedProjects"]?.array ?? [] {
            lines += ["", "\(text(name)) is not in this vault, and was not compared."]
        }
        for name in found["unlinkedProjects"]?.array ?? [] {
            lines += ["", "It is not known which values of \(text(name)) are live."]
        }
        for unknown in found["unknownOnVercel"]?.array ?? [] {
            let keys = (unknown["keys"]?.array ?? []).map(text).joined(separator: ", ")
            lines += [
                "",
                "Vercel has variables of \(text(unknown["project"])) that are not in this vault: "
                    + "\(keys).",
            ]
        }
        for member in found["silent"]?.array ?? [] {
            lines.append("")
            let reason = text(member["reason"])
            lines.append(
                "\(text(member["name"])) has not synced since"
                    + (reason.isEmpty ? "." : ", which was accepted: \(reason)"))
        }
        lines += ["", "The signed statement. Check it with `zg-env verify --report FILE`:", ""]
        return lines.joined(separator: "\n") + "\n```json\n" + json + "\n```\n"
    }

    /// Writes the file: JSON if its name ends with `.json`, else Markdown.
    func write(to path: String, replaces: Bool) throws {
        let text = path.hasSuffix(".json") ? json + "\n" : markdown
        try Array(text.utf8).withBytes {
            try PrivateFile.write($0, to: path, permissions: 0o644, replaces: replaces)
        }
    }
}
