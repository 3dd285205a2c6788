/// Compares what a command left in the vault and on Vercel with the naive history.
struct TargetChecker {
    /// A broken promise.
    struct Problem: Equatable, CustomStringConvertible {
        enum Kind: String {
            /// A value has a weaker or another type.
            case type
            case comment
            /// A value is in a place that no command named for it, or is missing.
            case value
            /// A command succeeded that must not.
            case accepted
            /// A command failed for no reason, or changed something although it failed.
            case refused
            /// Vercel shows what it must not show.
            case shown
            /// Vercel has a value that no command named, or lacks one after a push.
            case vercel
            /// A version number means two values.
            case number
        }

        let kind: Kind
        let text: String

        var description: String { "\(kind.rawValue): \(text)" }
    }

    typealias Place = TargetHistory.Place

    private(set) var history = TargetHistory()
    /// What Vercel had after the last command.
    private var listing: TargetHistory.Cells = [:]
    private(set) var problems: [Problem] = []

    /// Begins with a state that no command of the sequence made.
    init(vault: TargetHistory.Cells, listing: TargetHistory.Cells) {
        history.learn(vault, after: TargetCommand(action: .push), TargetOutcome())
        self.listing = listing
    }

    /// Checks what a command left.
    ///
    /// - Parameters:
    ///   - expected: What it may leave.
    ///   - succeeded: Whether it exited with 0.
    mutating func check(
        _ command: TargetCommand, _ expected: TargetOutcome, succeeded: Bool,
        vault: TargetHistory.Cells, listing: TargetHistory.Cells
    ) {
        if succeeded, let reason = expected.refusal {
            add(.accepted, "it must be refused: \(reason)")
        }
        let isUnchanged = vault == history.cells
        // What is stored before a push stays stored if that fails.
        let mayChange = succeeded || command.sends && expected.refusal == nil
        if !succeeded, !command.sends, expected.mustSucceed {
            add(.refused, "nothing stands in its way")
        }
        if !mayChange, !isUnchanged {
            add(.refused, "it failed, and changed the vault: \(difference(to: vault))")
        } else if mayChange, succeeded || !isUnchanged {
            check(vault, expected)
        }
        history.learn(vault, after: command, expected)
        check(listing: listing, command, vault, succeeded: succeeded)
        self.listing = listing
    }

    /// Learns the values that version numbers of variables have, and notes those that had others.
    mutating func learn(numbers: [String: [UInt64: String]]) {
        for (key, number) in history.learn(numbers: numbers) {
            add(.number, "version \(number) of \(key) means two values")
        }
    }

    /// Notes places for which the vault has two values.
    mutating func noteContested(_ places: [Place]) {
        for place in places { add(.value, "\(place.text) has two values") }
    }

    private mutating func add(_ kind: Problem.Kind, _ text: String) {
        problems.append(Problem(kind: kind, text: text))
    }

    // MARK: The vault

    private func places(of cells: TargetHistory.Cells) -> Set<Place> {
        Set(
            cells.flatMap { key, targets in
                targets.keys.map { Place(key: key, target: $0) }
            })
    }

    private func difference(to vault: TargetHistory.Cells) -> String {
        places(of: vault).union(places(of: history.cells)).sorted().filter {
            history.cell($0) != vault[$0.key]?[$0.target]
        }.map(\.text).joined(separator: ", ")
    }

    private mutating func check(_ vault: TargetHistory.Cells, _ expected: TargetOutcome) {
        let all = places(of: vault).union(places(of: history.cells)).union(expected.places.keys)
        for place in all.sorted() {
            let (before, now) = (history.cell(place), vault[place.key]?[place.target])
            if let left = expected.places[place] {
                if left.mayStay, before == now { continue }
                check(now, left, place)
            } else if before != now {
                check(
                    now,
                    before.map {
                        PlaceOutcome(
                            values: [$0.value], types: $0.type...$0.type, comments: [$0.comment])
                    } ?? PlaceOutcome(isRemoved: true), place)
            }
        }
    }

    private mutating func check(
        _ now: TargetHistory.Cell?, _ left: PlaceOutcome, _ place: Place
    ) {
        guard !left.isRemoved else {
            if let now { add(.value, "\(place.text) has \(now.value), expected none") }
            return
        }
        guard let now else { return add(.value, "\(place.text) has no value") }
        if !left.values.contains(now.value) {
            let values =
                left.values.isEmpty ? "no change" : left.values.sorted().joined(separator: " or ")
            add(.value, "\(place.text) has '\(now.value)', expected \(values)")
        }
        if !left.types.contains(now.type) {
            let types = ValueType.allCases.filter { left.types.contains($0) }.map(\.name)
            add(
                .type,
                "\(place.text) is \(now.type.name), expected \(types.joined(separator: " or "))")
        }
        if !left.comments.contains(now.comment) {
            let comments = left.comments.map { $0 ?? "none" }.sorted()
            add(
                .comment,
                "\(place.text) has the comment \(now.comment ?? "none"), expected \(comments.joined(separator: " or "))"
            )
        }
    }

    // MARK: Vercel

    private mutating func check(
        listing: TargetHistory.Cells, _ command: TargetCommand, _ vault: TargetHistory.Cells,
        succeeded: Bool
    ) {
        for place in places(of: listing).sorted() {
            guard let now = listing[place.key]?[place.target] else { continue }
            let before = self.listing[place.key]?[place.target]
            if before == now { continue }
            if !history.had(now.value, in: place) {
                add(.vercel, "\(place.text) has \(now.value), which no command named for it")
            }
            guard now.type.isReadable else { continue }
            if before?.type == .sensitive, !command.allowsWeaker, !history.isFreed(place) {
                add(.shown, "\(place.text) became readable without --allow-weaker")
            }
            if !history.mayShow(now.value, in: place) {
                add(.shown, "\(place.text) shows \(now.value), which was sensitive")
            }
        }
        guard command.action == .push, command.key.isEmpty, succeeded else { return }
        for place in places(of: listing).union(places(of: vault)).sorted() {
            let (here, there) = (
                vault[place.key]?[place.target], listing[place.key]?[place.target]
            )
            if here?.value != there?.value || here?.type != there?.type {
                func text(_ cell: TargetHistory.Cell?) -> String {
                    cell.map { "\($0.value) (\($0.type.name))" } ?? "nothing"
                }
                add(
                    .vercel,
                    "\(place.text) is \(text(there)) after a push, expected \(text(here))")
            }
        }
    }
}
