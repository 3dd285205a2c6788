internal import CommandLineKit
internal import Glibc
internal import SystemFiles

/// Lets a person at a terminal pick a name that is missing: with fzf if it is installed, otherwise in
/// a list of our own. Only names are shown, never values.
struct Picker {
    private let workspace: Workspace

    init(_ workspace: Workspace) { self.workspace = workspace }

    /// Whether a person is there to pick: not for a script, whose usage error stays.
    var isPossible: Bool {
        let (options, context) = (workspace.options, workspace.context)
        return !options.json && !options.yes && !options.quiet && Self.hasTerminal(context)
            && workspace.interaction.canConfirm
    }

    /// Whether standard input and error are terminals that can move the cursor.
    static func hasTerminal(_ context: Context) -> Bool {
        TerminalDevice.isTerminal(0) && TerminalDevice.isTerminal(context.messages.descriptor)
            && !["dumb", "unknown", nil].contains(context.variable("TERM"))
    }

    /// Returns the picked word; nil if there is nothing to pick from.
    ///
    /// - Parameters:
    ///   - title: What is picked, such as "Variable".
    ///   - entries: Words that change when they are made safe for a terminal are left out.
    /// - Throws: ``ExitCode/failed`` if nothing was picked.
    func pick(_ title: String, _ entries: [ListPicker.Entry]) throws -> String? {
        let shown = entries.filter { !$0.word.isEmpty && DisplayText.safe($0.word) == $0.word }
        guard !shown.isEmpty else { return nil }
        let path = ExecutableSearch(path: workspace.context.variable("PATH")).find("fzf")
        switch path.map({ fzf($0, title, shown) }) ?? .unusable {
        case .picked(let word): return word
        case .canceled: break
        case .unusable:
            var list = ListPicker(title, shown)
            let answer = try Interrupts.deferred { () throws(TerminalError) in try list.run() }
            Interrupts.endIfPending()
            if case .picked(let number) = answer { return shown[number].word }
        }
        Interrupts.endIfPending()
        throw CommandError(.failed, "Canceled.")
    }

    private enum Outcome {
        case picked(String)
        case canceled
        /// fzf could not run.
        case unusable
    }

    private func fzf(_ path: String, _ title: String, _ entries: [ListPicker.Entry]) -> Outcome {
        let lines = entries.map { entry in
            let note = DisplayText.safe(entry.note)
            return note.isEmpty ? entry.word : "\(entry.word)\t\(note)"
        }
        return Interrupts.withTerminalLent {
            let child = try? ChildProcess.start(
                path, ["fzf", "--no-multi", "--prompt=\(title): "],
                environment: workspace.context.childEnvironment,
                input: .pipe, output: .pipe, error: .terminal, searchesPath: false)
            guard let child else { return .unusable }
            // It may end before it has read everything.
            let text = Array((lines.joined(separator: "\n") + "\n").utf8)
            var written = 0
            while written < text.count {
                let count = unsafe write(
                    child.inputDescriptor, Array(text[written...]), text.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                written += count
            }
            child.closeInput()
            var answer: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while answer.count < 1 << 16 {
                let count = unsafe read(child.outputDescriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR, Interrupts.pending == nil { continue }
                guard count > 0 else { break }
                answer += buffer[..<count]
            }
            if Interrupts.pending != nil { child.terminate() }
            switch child.wait() {
            case 0: break
            // No match, and canceled.
            case 1, 130: return .canceled
            default: return Interrupts.pending == nil ? .unusable : .canceled
            }
            // The user's own options can make fzf print other lines first, such as the query.
            let line = answer.split(separator: 0x0A).last ?? []
            let word = line.prefix { $0 != 0x09 }
            let picked = String(decoding: word, as: UTF8.self)
            return entries.contains { $0.word == picked } ? .picked(picked) : .canceled
        }
    }
}
