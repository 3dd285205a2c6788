import Foundation
import TestSupport
import Testing

/// Expects that a run succeeded, and returns it.
@discardableResult
func done(
    _ result: ProgramResult, sourceLocation: SourceLocation = #_sourceLocation
) -> ProgramResult {
    #expect(
        result.end == .exited(0), "\(result.error)\(result.screen)",
        sourceLocation: sourceLocation)
    return result
}

/// Returns the JSON value that a successful run printed; stderr must be empty.
func json(
    _ result: ProgramResult, sourceLocation: SourceLocation = #_sourceLocation
) throws -> JSONDocument {
    done(result, sourceLocation: sourceLocation)
    #expect(result.error == "", sourceLocation: sourceLocation)
    #expect(result.standardOutput.last == 0x0A, sourceLocation: sourceLocation)
    return try JSONDocument(result.standardOutput)
}

/// Expects that a run failed with a status and no output, and reported the error in one or two
/// lines that contain `words`.
func failed(
    _ result: ProgramResult, _ status: Int32, _ words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(result.end == .exited(status), "\(result.error)", sourceLocation: sourceLocation)
    #expect(result.output == "", sourceLocation: sourceLocation)
    for word in words {
        #expect(result.error.contains(word), "\(result.error)", sourceLocation: sourceLocation)
    }
    let lines = result.error.split(separator: "\n").filter { line in
        let notes = [
            "warning: ", "Using the development variables", "One trailing newline",
            "zg-env does not know how to stop", "  update ", "  create ",
        ]
        // Diagnostics about the file come before the error.
        let isDiagnostic =
            line.contains(/^\S+:\d+:\d+:/) || line.hasSuffix("more (--json lists all)")
        return !isDiagnostic && !notes.contains { line.hasPrefix($0) }
    }
    #expect((1...2).contains(lines.count), "\(result.error)", sourceLocation: sourceLocation)
    #expect(
        lines.first?.hasPrefix("zg-env: ") == true, "\(result.error)",
        sourceLocation: sourceLocation)
}

/// Expects that a run with `--json` failed with one error object on stderr and nothing on stdout.
/// Returns message and hint as one text.
@discardableResult
func failedAsJSON(
    _ result: ProgramResult, _ status: Int32, _ code: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> String {
    #expect(result.end == .exited(status), "\(result.error)", sourceLocation: sourceLocation)
    #expect(result.output == "", sourceLocation: sourceLocation)
    let document = try JSONDocument(result.standardError)
    #expect(document.names == ["error"], sourceLocation: sourceLocation)
    let error = try #require(document["error"], sourceLocation: sourceLocation)
    #expect(error["code"] == .string(code), "\(error)", sourceLocation: sourceLocation)
    #expect(error.names.isSubset(of: ["code", "message", "hint"]), sourceLocation: sourceLocation)
    let message = error["message"]?.text ?? ""
    #expect(message.count > 8, sourceLocation: sourceLocation)
    return message + " " + (error["hint"]?.text ?? "")
}

extension CommandHome {
    /// Returns a home with an empty vault.
    static func initialised(_ keyring: PrivateKeyring? = nil) throws -> CommandHome {
        let home = try CommandHome(keyring: keyring)
        try home.initialise()
        return home
    }

    /// The records that `list` shows for a key, as `targets,environments@branch`, sorted.
    func scopes(of key: String, in project: String = "web") throws -> [String] {
        let list = try json(run(["list", key, "-p", project, "--json"]))
        return (list["variables"]?.elements ?? []).map { record in
            let places =
                (record["targets"]?.texts ?? []) + (record["customEnvironments"]?.texts ?? [])
            return places.joined(separator: ",") + (record["branch"]?.text.map { "@" + $0 } ?? "")
        }.sorted()
    }
}

/// Returns whether a text is a UTC time in the documented format.
func isTime(_ document: JSONDocument?) -> Bool {
    guard let text = document?.text else { return false }
    return text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil
}

/// Returns a file's permissions.
func mode(_ path: String) throws -> UInt16 {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.uint16Value ?? 0
}
