internal import Vault

/// What the changes that take part assign, and which assignments nobody replaced.
struct Assignments {
    /// An assignment that is not replaced.
    struct Candidate {
        let reference: ChangeReference
        let operation: RecordOperation
        let author: Identifier
        let isLate: Bool
        let isByWriter: Bool
    }

    /// A thing of a record, or of the project.
    struct Subject: Hashable {
        let record: Identifier?
        let thing: Assigned
    }

    /// A change that takes part.
    struct Part {
        let place: Int
        let isLate: Bool
        let role: GroupRole
    }

    /// An assignment, in a form that takes eight bytes.
    private struct Key: Hashable {
        let bits: UInt64

        init(_ place: Int, _ operation: UInt16, _ thing: Assigned) {
            bits = UInt64(place) << 24 | UInt64(operation) << 8 | UInt64(thing.rawValue)
        }
    }

    private(set) var candidates: [Subject: [Candidate]] = [:]

    /// - Parameter mayReplace: Whether a change may replace an assignment of another one.
    init(
        _ parts: [Part], in graph: ChangeGraph,
        mayReplace: (_ replacing: Part, _ replaced: Int) -> Bool
    ) {
        var replaced: Set<Key> = []
        for part in parts {
            for operation in graph.changes[part.place].operations ?? [] {
                guard let thing = operation.operation.assigned.first else { continue }
                for reference in operation.replaces {
                    guard let place = graph.places[reference.change], mayReplace(part, place)
                    else { continue }
                    replaced.insert(Key(place, reference.operation, thing))
                }
            }
        }
        for part in parts {
            let change = graph.changes[part.place]
            for (number, operation) in (change.operations ?? []).enumerated() {
                let number = UInt16(number)
                for thing in operation.operation.assigned
                where !replaced.contains(Key(part.place, number, thing)) {
                    candidates[Subject(record: operation.record, thing: thing), default: []]
                        .append(
                            Candidate(
                                reference: ChangeReference(
                                    change: change.name, operation: number),
                                operation: operation, author: change.header.author,
                                isLate: part.isLate, isByWriter: part.role == .writer))
                }
            }
        }
    }

    /// The candidates of a thing, ascending by reference.
    func of(_ record: Identifier?, _ thing: Assigned) -> [Candidate] {
        (candidates[Subject(record: record, thing: thing)] ?? []).sorted {
            $0.reference < $1.reference
        }
    }

    /// The references of the candidates of some things that have any.
    func references(of record: Identifier?, _ things: [Assigned]) -> [Assigned: [ChangeReference]] {
        var references: [Assigned: [ChangeReference]] = [:]
        for thing in things {
            let candidates = of(record, thing)
            if !candidates.isEmpty { references[thing] = candidates.map(\.reference) }
        }
        return references
    }

    /// The same without late ones, unless there are only late ones.
    func settled(_ record: Identifier?, _ thing: Assigned) -> [Candidate] {
        let all = of(record, thing)
        let counted = all.filter { !$0.isLate }
        return counted.isEmpty ? all : counted
    }
}
