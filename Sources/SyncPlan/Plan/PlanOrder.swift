/// The order of a key's requests.
///
/// What shrinks or goes comes first, so that its targets are free. Then comes what changes or grows,
/// and last what is new. Of each, the lightest comes first.
struct PlanOrder {
    private(set) var requests: [PlannedRequest] = []

    private let comparison: KeyComparison
    private var state: KeyState { comparison.state }

    init(_ arrangement: RecordArrangement) {
        comparison = arrangement.comparison
        let futures = arrangement.futures
        // Production last: its new value may have to differ from what other targets still have.
        let places = state.records.indices.sorted { weight(of: $0) < weight(of: $1) }
        for place in places {
            guard let future = futures[place] else {
                requests.append(deletion(of: place))
                continue
            }
            let isChanged = future.joining.isEmpty && differs(place, future) && place != places.last
            if isChanged || future.kept != state.records[place].targets {
                requests.append(change(of: place, to: future, future.kept))
            }
        }
        for place in places {
            guard let future = futures[place] else { continue }
            if !future.joining.isEmpty {
                requests.append(growth(of: place, to: future))
            } else if place == places.last, future.kept == state.records[place].targets,
                differs(place, future)
            {
                requests.append(change(of: place, to: future, future.kept))
            }
        }
        for (targets, content) in arrangement.created {
            requests.append(
                PlannedRequest(
                    key: state.key, subject: nil, targets: targets, type: content.type,
                    comment: content.comment, version: content.version, sendsValue: true,
                    agreed: targets, onlyRemoves: false))
        }
    }

    private func weight(of place: Int) -> Int {
        -(state.records[place].targets.heaviest?.position ?? 0)
    }

    private func differs(_ place: Int, _ future: RecordFuture) -> Bool {
        let record = state.records[place]
        return future.version != comparison.version(of: place) || future.type != record.type
            || future.comment != record.comment
    }

    private func isUnwanted(_ targets: TargetSet) -> Bool {
        targets.allSatisfy { comparison.wish($0) == nil }
    }

    private func deletion(of place: Int) -> PlannedRequest {
        let record = state.records[place]
        return PlannedRequest(
            key: state.key, subject: subject(place), targets: [], type: record.type,
            comment: record.comment, version: nil, sendsValue: false, agreed: [],
            onlyRemoves: isUnwanted(record.targets))
    }

    private func change(of place: Int, to future: RecordFuture, _ targets: TargetSet)
        -> PlannedRequest
    {
        let agreed = targets.filter { target in
            !comparison.isPinned(target) || comparison.isAsAgreed(target)
                || comparison.standing(in: target) == .same
        }
        return PlannedRequest(
            key: state.key, subject: subject(place), targets: targets, type: future.type,
            comment: future.comment, version: future.version,
            sendsValue: future.version != comparison.version(of: place), agreed: TargetSet(agreed),
            onlyRemoves: future.joining.isEmpty && !differs(place, future)
                && isUnwanted(state.records[place].targets.subtracting(targets)))
    }

    /// A record that shrank before has its new content already.
    private func growth(of place: Int, to future: RecordFuture) -> PlannedRequest {
        let targets = future.kept.union(future.joining)
        guard future.kept != state.records[place].targets else {
            return change(of: place, to: future, targets)
        }
        let subject = PlannedRequest.Subject(
            record: state.records[place].id, targets: future.kept, witness: nil)
        return PlannedRequest(
            key: state.key, subject: subject, targets: targets, type: future.type,
            comment: future.comment, version: future.version, sendsValue: false, agreed: targets,
            onlyRemoves: false)
    }

    private func subject(_ place: Int) -> PlannedRequest.Subject {
        let record = state.records[place]
        return PlannedRequest.Subject(
            record: record.id, targets: record.targets, witness: record.witness)
    }
}
