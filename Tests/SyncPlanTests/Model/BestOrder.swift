import SyncPlan

/// A search for the shortest order of requests for one key, by trying all of them.
///
/// It knows only what the platform refuses: a target may be without its value in between. So it finds
/// at least as short an order as a search that keeps to the planner's promises.
struct BestOrder {
    /// A record without its history.
    private struct Piece: Hashable {
        var targets: TargetSet
        var value: Int
        var type: ValueType
    }

    private let rules: ModelRules
    /// What each target is to have.
    private let goal: [Goal?]
    /// What a request can send.
    private let contents: [Goal]
    private let sets: [TargetSet]

    private struct Goal: Hashable {
        let value: Int
        let type: ValueType
    }

    /// - Parameter ends: What each target is to have. Comments do not count.
    init(_ rules: ModelRules, _ ends: [PlanOracle.Value?]) {
        self.rules = rules
        goal = ends.map { end in end.map { Goal(value: $0.value, type: $0.type) } }
        contents = Set(goal.compactMap { $0 }).sorted {
            ($0.value, $0.type.number) < ($1.value, $1.type.number)
        }
        let targets = ends.indices.map(Target.init)
        sets = (1..<(1 << targets.count)).map { bits in
            TargetSet(targets.filter { bits >> $0.position & 1 == 1 })
        }
    }

    /// Returns whether so many requests can bring the platform to what is wanted.
    func isReached(from platform: ModelPlatform, within requests: Int) -> Bool {
        search(
            platform.records.map {
                Piece(targets: $0.targets, value: $0.value, type: $0.type)
            }, requests)
    }

    private func search(_ pieces: [Piece], _ left: Int) -> Bool {
        let wrong = wrongPieces(pieces)
        if wrong == 0 { return true }
        // Each request brings one record to where it is to be.
        if wrong > left { return false }
        for place in pieces.indices {
            let piece = pieces[place]
            var others = pieces
            others.remove(at: place)
            if search(others, left - 1) { return true }
            let own = Goal(value: piece.value, type: piece.type)
            let types = Set(contents.map(\.type)).map { Goal(value: piece.value, type: $0) }
            for content in Set(contents.filter(isKnown) + types + [own]) {
                for targets in sets {
                    let new = Piece(targets: targets, value: content.value, type: content.type)
                    guard new != piece, piece.type.isReadable || !new.type.isReadable,
                        fits(new, beside: others)
                    else { continue }
                    if search(others + [new], left - 1) { return true }
                }
            }
        }
        for content in contents.filter(isKnown) {
            for targets in sets {
                let new = Piece(targets: targets, value: content.value, type: content.type)
                if fits(new, beside: pieces), search(pieces + [new], left - 1) { return true }
            }
        }
        return false
    }

    /// Whether the vault has a value and can send it.
    private func isKnown(_ content: Goal) -> Bool {
        ModelWorld.version(of: content.value).isReadable
    }

    private func fits(_ piece: Piece, beside others: [Piece]) -> Bool {
        rules.allows(piece.targets, of: piece.type)
            && others.allSatisfy { $0.targets.isDisjoint(with: piece.targets) }
    }

    /// The least number of records that must still be changed, made or deleted.
    private func wrongPieces(_ pieces: [Piece]) -> Int {
        var count = 0
        var covered = TargetSet()
        for piece in pieces {
            covered = covered.union(piece.targets)
            let isRight = piece.targets.allSatisfy {
                goal[$0.position] == Goal(value: piece.value, type: piece.type)
            }
            if !isRight { count += 1 }
        }
        // One new record may carry all that is missing.
        let isMissing = goal.indices.contains {
            goal[$0] != nil && !covered.contains(Target($0))
        }
        return max(count, isMissing ? 1 : 0)
    }
}
