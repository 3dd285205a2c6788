internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

/// A value to be revealed, with the few facts about its record that are shown. There can be thousands,
/// so they do not keep the whole record.
struct RevealedValue {
    let name: String
    let scope: Scope
    let value: SecretSlice
    /// The version; nil for a value from Vercel.
    let version: UInt64?

    /// Writes `{"variables":[{"key","targets","customEnvironments","branch","version","value"}]}`.
    static func writeJSON(_ values: [RevealedValue], to output: OutputStream) throws {
        var writer = JSONWriter(to: output)
        try writer.beginObject()
        try writer.name("variables")
        try writer.beginArray()
        for entry in values {
            let scope = entry.scope
            try writer.beginObject()
            try writer.member("key", entry.name)
            try writer.member("targets", scope.targets.names)
            try writer.member("customEnvironments", scope.customEnvironments)
            try writer.member("branch", .string(orNull: scope.branch))
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

extension RevealedValue {
    /// A value of a record, by default the current one.
    init(_ value: SecretSlice, of record: Variable, version: UInt64? = nil) {
        self.init(
            name: record.name, scope: record.attributes.scope, value: value,
            version: version ?? record.currentVersion)
    }
}

extension ValueReader {
    /// Returns a reader of values.
    ///
    /// - Throws: ``ExitCode/locked`` if the keys do not open any.
    static func required(
        _ vault: Vault, _ index: VaultIndex, _ keys: VaultKeys
    ) throws -> ValueReader {
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        return reader
    }
}
