internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Release

/// Parses the arguments, runs one command and shows its result.
package struct PostalProgram {
    private let context: PostalContext
    private let output = OutputStream(descriptor: 1)
    private let messages = OutputStream(descriptor: 2)

    package static func main() -> Int32 {
        // Webhook secrets are in this process: no core dump, no tracing by other processes.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = zg_set_not_dumpable()
        _ = zg_fill_standard_descriptors()
        signal(SIGPIPE, SIG_IGN)
        // A file size limit is a failed write, like any other.
        signal(SIGXFSZ, SIG_IGN)
        umask(0o077)
        return PostalProgram(context: .live).run()
    }

    package init(context: PostalContext) { self.context = context }

    package func run() -> Int32 {
        let wantsJSON = context.arguments.contains(Array("--json".utf8))
        do {
            switch try ArgumentParser(PostalTable.program).parse(bytes: context.arguments) {
            case .version: try show("zg-env-postal \(Release.version)\n")
            case .help(let topic, let full):
                let width = TerminalDevice.columns(1) ?? 80
                let help = HelpFormatter(PostalTable.program, width: width)
                try show(help.text(on: topic, full: full))
            case .command(let parsed):
                guard let command = PostalTable.commands.first(where: { $0.spec == parsed.spec })
                else { throw PostalError(.usage, "Unknown command \(parsed.spec.name).") }
                let result = try command.run(parsed, context)
                if wantsJSON, let json = result.json {
                    try show(json.encodedText + "\n")
                } else {
                    try show(result.text)
                }
                return result.status
            }
            return 0
        } catch OutputError.closed {
            return 141
        } catch {
            return fail(PostalError(mapping: error), json: wantsJSON)
        }
    }

    private func show(_ text: String) throws {
        guard !text.isEmpty else { return }
        try output.write(text)
        try output.flush()
    }

    private func fail(_ error: PostalError, json: Bool) -> Int32 {
        do {
            if json {
                var members: [JSONValue.Member] = [
                    .init("code", .string(error.exit.name)),
                    .init("message", .string(error.message)),
                ]
                if let hint = error.hint { members.append(.init("hint", .string(hint))) }
                let value = JSONValue.object([.init("error", .object(members))])
                try messages.write(value.encodedText + "\n")
            } else {
                try messages.write(sentence: error.message, label: "zg-env-postal:")
                if let hint = error.hint { try messages.write(sentence: hint, label: "hint:") }
            }
            try messages.flush()
        } catch {
            messages.discard()
        }
        return error.exit.rawValue
    }
}
