internal import DotEnv
internal import EnvOperations
internal import Vault

/// The commands that resolve conflicts, complete for copying; those that lose nothing come first.
struct ConflictAdvice {
    /// One or more sentences.
    let text: String

    /// With more keys than this, the command applies to the whole project.
    private static let longestList = 20

    /// - Parameter offersQuestions: Whether to name the command that asks about each conflict: for a
    ///   push, not for that command itself.
    init(_ conflicts: [RecordNote], project: String, offersQuestions: Bool = false) {
        let place = "-p \(word: project)"
        func command(_ verb: String, _ notes: [RecordNote]) -> String {
            var keys = Self.keys(notes)
            for note in notes {
                switch note.way {
                case .together(let other, _), .takingAlong(let other), .emptying(_, let other?):
                    if !keys.contains(other) { keys.append(other) }
                default: break
                }
            }
            return "zg-env \(verb) \(Self.words(keys))\(place)"
        }
        func all(_ way: RecordNote.Way) -> [RecordNote] { conflicts.filter { $0.way == way } }
        var sentences: [String] = []
        for note in conflicts {
            guard case .emptying(let scope, _) = note.way else { continue }
            sentences.append(
                "Pull it first with: \(command("pull", [note])) --force. Then remove it with: zg-env rm \(word: note.key) \(place)\(scope.optionText) --push."
            )
        }
        let changed = all(.pulling(isGone: false))
        if !changed.isEmpty {
            sentences.append(
                "To take Vercel's version, run: \(command("pull", changed)). To overwrite Vercel's version permanently, run: \(command("push", changed)) --force."
            )
        }
        let removed = all(.pulling(isGone: true))
        if !removed.isEmpty {
            sentences.append(
                "To push it again, run: \(command("push", removed)) --force. To remove it from the vault too (the history is kept), run: \(command("pull", removed))."
            )
        }
        let either = all(.either)
        if !either.isEmpty {
            if offersQuestions {
                sentences.append(
                    "To choose a side for each variable at a terminal, run: \(command("pull", either))."
                )
            }
            sentences.append(
                "To take Vercel's version (the history keeps the vault's), run: \(command("pull", either)) --force. To overwrite Vercel's version permanently, run: \(command("push", either)) --force."
            )
        }
        let isEmptying = conflicts.contains {
            if case .emptying = $0.way { true } else { false }
        }
        let gone = all(.gone)
        if !gone.isEmpty {
            let loss = isEmptying ? ", discarding the changes on Vercel" : ""
            sentences.append(
                "To push it again\(loss), run: \(command("push", gone)) --force. To remove it from the vault too (the history is kept), run: \(command("pull", gone)) --force."
            )
        }
        let sending = all(.sending)
        if !sending.isEmpty {
            // Each value needs its own command.
            let first = sending.prefix(3).map { Self.setting($0, place) }.joined(separator: ", ")
            sentences.append(
                "Vercel does not show its value for \(Self.named(sending)). If the vault's value is wrong, set the right one first with: \(first). Then overwrite Vercel's value permanently with: \(command("push", sending)) --force."
            )
        }
        let overriding = all(.overriding)
        if !overriding.isEmpty {
            sentences.append(
                "To overwrite Vercel's version permanently, run: \(command("push", overriding)) --force."
            )
        }
        let removing = all(.removing)
        if !removing.isEmpty {
            sentences.append(
                "To remove it from the vault too, run: \(command("pull", removing)) --force.")
        }
        let taking = all(.taking)
        if !taking.isEmpty {
            sentences.append(
                "To pull it into the vault, run: \(command("pull", taking)) --force. To delete the variables that exist only on Vercel, run: zg-env push \(place) --prune."
            )
        }
        for note in all(.value) {
            sentences.append("Set a value with: \(Self.setting(note, place)).")
        }
        for note in all(.reserved) {
            sentences.append(
                "Remove it with: zg-env rm \(word: note.key) \(place)\(note.scope.optionText).")
        }
        let along = conflicts.filter {
            if case .takingAlong = $0.way { true } else { false }
        }
        if !along.isEmpty {
            sentences.append(
                "To take Vercel's version of both (the history keeps the vault's), run: \(command("pull", along)) --force."
            )
        }
        for isForced in [false, true] {
            let together = conflicts.filter {
                if case .together(_, isForced) = $0.way { true } else { false }
            }
            if together.isEmpty { continue }
            sentences.append(
                "To also push the conflicting variable, run: \(command("push", together))\(isForced ? " --force" : "")."
            )
        }
        text = sentences.joined(separator: " ")
    }

    /// Returns keys as command arguments, each followed by a space; empty if there are too many.
    static func words(_ keys: [String]) -> String {
        let each = keys.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return each.count > longestList ? "" : each.map { "\(word: $0) " }.joined()
    }

    private static func keys(_ notes: [RecordNote]) -> [String] {
        notes.reduce(into: []) { if !$0.contains($1.key) { $0.append($1.key) } }
    }

    private static func named(_ notes: [RecordNote]) -> String {
        let keys = keys(notes)
        return keys.count == 1
            ? keys[0] : "\(keys[0]) and \(keys.count - 1) more"
    }

    private static func setting(_ note: RecordNote, _ place: String) -> String {
        "zg-env set \(word: note.key) \(place)\(note.scope.optionText)"
    }
}
