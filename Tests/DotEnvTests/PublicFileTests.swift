import DotEnv
import Foundation
import TestSupport
import Testing

/// Files like those of public projects, read in every dialect and written in every format, against
/// the programs that read such files.
@Suite struct `Files like those of public projects` {
    private typealias Reader = `Real readers`.Reader

    /// The variables of the text that a real program reads; nil if it refuses the file.
    private static func values(_ text: String, by reader: Reader) throws -> [String: String]? {
        guard let (path, arguments) = reader.command("public.env") else {
            Issue.record("\(reader.absence)")
            return nil
        }
        let directory = try TemporaryDirectory(named: "public-files")
        try directory.write(text, to: "public.env")
        var runner = ProgramRunner(path: path, arguments, environment: ["PATH": "/usr/bin:/bin"])
        runner.workingDirectory = directory.path
        let result = try runner.run()
        guard result.status == 0 else { return nil }
        var found: [String: String] = [:]
        for entry in result.output.split(separator: "\0") {
            guard let sign = entry.firstIndex(of: "=") else { continue }
            found[String(entry[..<sign])] = String(entry[entry.index(after: sign)...])
        }
        // A shell has variables of its own.
        return reader.isShell ? found.filter { text.contains("\($0.key)=") } : found
    }

    /// The variables that a dialect reads.
    private static func values(_ text: String, as dialect: DotEnvDialect) throws -> [String: String]
    {
        Dictionary(
            effective(try expandedOrPlain(text, as: dialect)).map { ($0.key, $0.value ?? "") },
            uniquingKeysWith: { $1 })
    }

    @Test("VAL-files: there are ten of different shapes")
    func shapes() throws {
        #expect(PublicFiles.texts.count == 10)
        for (name, text) in PublicFiles.texts {
            #expect(try Self.values(text, as: .dotenv).count >= 4, "\(name)")
        }
    }

    @Test(
        "VAL-files: each dialect gives the values of its program, and what differs has a diagnostic",
        arguments: [
            (.motdotla, .dotenv), (.node, .node), (.pythonDotEnv, nil),
            (.bash, .shell), (.systemd, .systemd), (.docker, .docker), (.compose, .compose),
        ] as [(`Real readers`.Reader, DotEnvDialect?)], PublicFiles.texts.map(\.name))
    func reading(parser: (`Real readers`.Reader, DotEnvDialect?), name: String) throws {
        let text = PublicFiles.texts.first { $0.name == name }?.text ?? ""
        let (reader, dialect) = parser
        let expected = try Self.values(text, by: reader)
        if let dialect {
            let found: [String: String]?
            do {
                found = try Self.values(text, as: dialect)
            } catch let error as DotEnvError {
                // The dialect refuses what a shell would execute or expand.
                #expect(dialect == .shell && error.code == .wouldExecute || expected == nil)
                found = nil
            }
            // Compose replaces references, which are only reported without --expand.
            func isLive(_ key: String) -> Bool {
                reader == .compose && found?[key]?.contains("${") == true
            }
            if let found {
                #expect(
                    found.filter { !isLive($0.key) } == expected?.filter { !isLive($0.key) },
                    "\(reader) \(name)")
            }
        }
        // Only of these does the default dialect report each difference.
        guard [.node, .pythonDotEnv, .bash, .compose].contains(reader) else { return }
        let told = try read(text).diagnostics
        for (key, value) in try Self.values(text, as: .dotenv) where expected?[key] != value {
            #expect(told.contains { $0.key == key || $0.key == nil }, "\(reader) \(name) \(key)")
        }
    }

    @Test("VAL-files: the dialects without a program read what motdotla/dotenv reads")
    func otherDialects() throws {
        for (name, text) in PublicFiles.texts {
            let reference = try Self.values(text, as: .dotenv)
            let next = try Self.values(text, as: .next)
            for (key, value) in reference {
                let expanded = value.replacing("${APP_NAME}", with: "Shop")
                    .replacing("#c$d", with: "#c")
                #expect(next[key] == expanded, "\(name) \(key)")
            }
            // Made for files of the Vercel CLI, it still finds every name.
            #expect(Set(try Self.values(text, as: .vercelPull).keys) == Set(reference.keys))
            do {
                #expect(try Self.values(text, as: .portable) == reference, "\(name)")
            } catch let error as DotEnvError {
                #expect(
                    error.key.map { reference[$0] != nil } ?? text.hasPrefix("\u{FEFF}"),
                    "\(name): \(error)")
            }
        }
    }

    @Test(
        "VAL-files: every format gives its programs the same values",
        arguments: `Real readers`.Reader.allCases, PublicFiles.texts.map(\.name))
    func writing(reader: `Real readers`.Reader, name: String) throws {
        let text = PublicFiles.texts.first { $0.name == name }?.text ?? ""
        var values = try Self.values(text, as: .dotenv).sorted { $0.key < $1.key }
            .map { ($0.key, Array($0.value.utf8)) }
        if reader == .compose {
            let own = try written(values, as: .dotenv, for: .compose)
            #expect(try Self.values(own, by: reader) == Self.strings(values), "\(name)")
            return
        }
        let lend: DotEnvWriter.Lender = { index, body in withSpan(values[index].1) { body($0) } }
        let unportable = DotEnvWriter(reader.format).unportableKeys(values.map(\.0), lending: lend)
        // docker has no line breaks; a text for all parsers has no references.
        values.removeAll { key, value in
            unportable.contains(key) || reader.format == .docker && value.contains(0x0A)
        }
        let own = try written(values, as: reader.format)
        #expect(try Self.values(own, by: reader) == Self.strings(values), "\(name)")
    }

    private static func strings(_ values: [(String, [UInt8])]) -> [String: String] {
        Dictionary(
            values.map { ($0.0, String(decoding: $0.1, as: UTF8.self)) }, uniquingKeysWith: { $1 })
    }
}
