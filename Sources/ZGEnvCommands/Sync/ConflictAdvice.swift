internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// The commands that resolve conflicts, complete for copying; those that lose nothing come first.
struct ConflictAdvice {
    /// One or more sentences.
    let text: String

    /// Where the value of an integration's variable is replaced.
    static let rotatingIntegration =
        "Replace its value in the integration: on Vercel, open Integrations, the resource, Settings, Rotate Secrets; then redeploy."

    /// With more keys than this, the command applies to the whole project.
    private static let longestList = 20

    /// - Parameter offersQuestions: Whether to name the command that asks about each conflict: for a
    ///   push, not for that command itself.
    init(_ conflicts: [RecordNote], project: String, offersQuestions: Bool = false) {
        let place = "-p \(word: project)"
        func command(_ verb: String, _ notes: [RecordNote]) -> String {
            let others = notes.compactMap { note in
                switch note.way {
                case .together(let other, _), .takingAlong(let other), .emptying(_, let other?):
                    other
                default: nil
                }
            }
            return "zg-env \(verb) \(Self.words(notes.map(\.key) + others))\(place)"
        }
        func all(_ way: RecordNote.Way) -> [RecordNote] { conflicts.filter { $0.way == way } }
        var sentences: [String] = []
        /// Adds a sentence about some of the conflicts, if there are any.
        func add(_ notes: [RecordNote], _ sentence: ([RecordNote]) -> String) {
            if !notes.isEmpty { sentences.append(sentence(notes)) }
        }
        for note in conflicts {
            guard case .emptying(let scope, _) = note.way else { continue }
            sentences.append(
                "Pull it first with: \(command("pull", [note])) --force. Then remove it with: zg-env rm \(word: note.key) \(place)\(scope.optionText) --push."
            )
        }
        add(all(.pulling(isGone: false))) {
            "To take Vercel's version, run: \(command("pull", $0)). To overwrite Vercel's version permanently, run: \(command("push", $0)) --force."
        }
        add(all(.pulling(isGone: true))) {
            "To push it again, run: \(command("push", $0)) --force. To remove it from the vault too (the history is kept), run: \(command("pull", $0))."
        }
        if offersQuestions {
            add(all(.either)) {
                "To choose a side for each variable at a terminal, run: \(command("pull", $0))."
            }
        }
        add(all(.either)) {
            "To take Vercel's version (the history keeps the vault's), run: \(command("pull", $0)) --force. To overwrite Vercel's version permanently, run: \(command("push", $0)) --force."
        }
        let isEmptying = conflicts.contains {
            if case .emptying = $0.way { true } else { false }
        }
        add(all(.gone)) {
            "To push it again\(isEmptying ? ", discarding the changes on Vercel" : ""), run: \(command("push", $0)) --force. To remove it from the vault too (the history is kept), run: \(command("pull", $0)) --force."
        }
        add(all(.sending)) { sending in
            // Each value needs its own command.
            let first = sending.prefix(3).map { Self.setting($0, place) }.joined(separator: ", ")
            return
                "Vercel does not show its value for \(Self.named(sending)). If the vault's value is wrong, set the right one first with: \(first). Then overwrite Vercel's value permanently with: \(command("push", sending)) --force."
        }
        add(all(.overriding)) {
            "To overwrite Vercel's version permanently, run: \(command("push", $0)) --force."
        }
        add(all(.removing)) {
            "To remove it from the vault too, run: \(command("pull", $0)) --force."
        }
        add(all(.taking)) {
            "To pull it into the vault, run: \(command("pull", $0)) --force. To delete the variables that exist only on Vercel, run: zg-env push \(place) --prune."
        }
        for note in all(.value) {
            sentences.append("Set a value with: \(Self.setting(note, place)).")
        }
        for note in all(.reserved) {
            sentences.append(
                "Remove it with: zg-env rm \(word: note.key) \(place)\(note.scope.optionText).")
        }
        add(all(.managed)) {
            "\(Self.rotatingIntegration) To change it nevertheless, run: \(command("push", $0)) --force."
        }
        add(all(.managedThere)) { _ in
            "To delete what integrations manage too, run: zg-env push \(place) --prune --force."
        }
        let along = conflicts.filter {
            if case .takingAlong = $0.way { true } else { false }
        }
        add(along) {
            "To take Vercel's version of both (the history keeps the vault's), run: \(command("pull", $0)) --force."
        }
        for isForced in [false, true] {
            let together = conflicts.filter {
                if case .together(_, isForced) = $0.way { true } else { false }
            }
            add(together) {
                "To also push the conflicting variable, run: \(command("push", $0))\(isForced ? " --force" : "")."
            }
        }
        text = sentences.joined(separator: " ")
    }

    /// Returns keys as command arguments, each followed by a space; empty if there are too many.
    static func words(_ keys: [String]) -> String {
        let each = keys.unique(by: \.self)
        return each.count > longestList ? "" : each.map { "\(word: $0) " }.joined()
    }

    private static func named(_ notes: [RecordNote]) -> String {
        let keys = notes.map(\.key).unique(by: \.self)
        return keys.count == 1
            ? keys[0] : "\(keys[0]) and \(keys.count - 1) more"
    }

    private static func setting(_ note: RecordNote, _ place: String) -> String {
        "zg-env set \(word: note.key) \(place)\(note.scope.optionText)"
    }
}
