internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

/// A value on its way out, with what is told of the record it belongs to. Thousands of them are
/// handed about, so that they hold no whole record.
struct RevealedValue {
    let name: String
    let scope: Scope
    let value: SecretSlice
    /// Which of its versions; nil for a value that came from the platform.
    let version: UInt64?

    /// Writes the form of the contract: `{"variables":[{"key","targets","branch","version","value"}]}`.
    static func writeJSON(_ values: [RevealedValue], to output: OutputStream) throws {
        var writer = JSONWriter(to: output)
        try writer.beginObject()
        try writer.name("variables")
        try writer.beginArray()
        for entry in values {
            let scope = entry.scope
            try writer.beginObject()
            try writer.name("key")
            try writer.string(entry.name)
            try writer.name("targets")
            try writer.value(.strings(scope.targets.names))
            try writer.name("customEnvironments")
            try writer.value(.strings(scope.customEnvironments))
            try writer.name("branch")
            try writer.value(.string(orNull: scope.branch))
            try writer.name("version")
            if let version = entry.version {
                try writer.integer(version)
            } else {
                try writer.value(.null)
            }
            try writer.name("value")
            try entry.value.withBytes { try writer.string(utf8: $0) }
            try writer.endObject()
        }
        try writer.endArray()
        try writer.endObject()
        _ = try writer.finish()
        try output.write("\n")
    }
}
