internal import DotEnv
internal import EnvOperations
internal import Vault

/// The commands that end conflicts, with names and places, to be copied: those that lose nothing first.
struct ConflictAdvice {
    /// Some sentences.
    let text: String

    /// More keys than this are not named: the command is for all of the project then.
    private static let longestList = 20

    init(_ conflicts: [RecordNote], project: String) {
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
                "Take it into the vault first with: \(command("pull", [note])) --force. Then remove it with: zg-env rm \(word: note.key) \(place)\(scope.optionText) --push."
            )
        }
        let either = all(.either)
        if !either.isEmpty {
            sentences.append(
                "Take what Vercel has with: \(command("pull", either)) --force (what is here stays in the history). Or bring Vercel to what is here, which ends what only Vercel has, with: \(command("push", either)) --force."
            )
        }
        let isEmptying = conflicts.contains {
            if case .emptying = $0.way { true } else { false }
        }
        let gone = all(.gone)
        if !gone.isEmpty {
            let ends = isEmptying ? ", which ends what only Vercel has," : ""
            sentences.append(
                "Send it again\(ends) with: \(command("push", gone)) --force. Or remove it here too, with its history kept, with: \(command("pull", gone)) --force."
            )
        }
        let sending = all(.sending)
        if !sending.isEmpty {
            // Each takes a command of its own.
            let first = sending.prefix(3).map { Self.setting($0, place) }.joined(separator: ", ")
            sentences.append(
                "Vercel does not show the value that it has of \(Self.named(sending)). Where another value than the vault's is right, give it to the vault first with: \(first). Then send the vault's, which ends the one on Vercel, with: \(command("push", sending)) --force."
            )
        }
        let overriding = all(.overriding)
        if !overriding.isEmpty {
            sentences.append(
                "Bring Vercel to what is here, which ends what only Vercel has, with: \(command("push", overriding)) --force."
            )
        }
        let removing = all(.removing)
        if !removing.isEmpty {
            sentences.append("Remove it here too with: \(command("pull", removing)) --force.")
        }
        let taking = all(.taking)
        if !taking.isEmpty {
            sentences.append(
                "Take it into the vault with: \(command("pull", taking)) --force. Or delete on Vercel what only Vercel has with: zg-env push \(place) --prune."
            )
        }
        for note in all(.value) {
            sentences.append("Give it a value with: \(Self.setting(note, place)).")
        }
        for note in all(.reserved) {
            sentences.append(
                "Take it out with: zg-env rm \(word: note.key) \(place)\(note.scope.optionText).")
        }
        let along = conflicts.filter {
            if case .takingAlong = $0.way { true } else { false }
        }
        if !along.isEmpty {
            sentences.append(
                "Take what Vercel has of both (what is here stays in the history) with: \(command("pull", along)) --force."
            )
        }
        for isForced in [false, true] {
            let together = conflicts.filter {
                if case .together(_, isForced) = $0.way { true } else { false }
            }
            if together.isEmpty { continue }
            sentences.append(
                "Push what is in the way too with: \(command("push", together))\(isForced ? " --force" : "")."
            )
        }
        text = sentences.joined(separator: " ")
    }

    /// Keys as words of a command, each with a space behind it; nothing where that is all of the project's.
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

extension Scope {
    /// The options that name it, with a space in front.
    var optionText: String {
        let places = (targets.names + customEnvironments).joined(separator: ",")
        return (places.isEmpty ? "" : " -t \(word: places)")
            + (branch.map { " -b \(word: $0)" } ?? "")
    }
}
