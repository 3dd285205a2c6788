package import Sealing
internal import Vault
package import VercelAPI

/// Reads the values of many variables of one project with few requests.
///
/// One request gives all values of a target, so it takes the place of many single ones. What it does
/// not prove is asked for singly: a value that it leaves out, or shows as empty, which is also how
/// it shows values that it hides.
package struct PlatformValues {
    private let client: VercelClient
    private let project: String

    /// So many single requests are under way at once, and take no longer than one.
    private static let fewest = 9
    /// Single requests between two steps of progress.
    private static let roundCount = 64

    /// - Parameter project: The platform's id.
    package init(_ client: VercelClient, project: String) {
        self.client = client
        self.project = project
    }

    /// Reads the values of `records`.
    ///
    /// - Parameters:
    ///   - trustsEmpty: Whether an empty value counts as shown although the platform does not say that
    ///     it is the value.
    ///   - isExpected: Asked of each value that came with a whole target; where it says no, the
    ///     variable is asked for singly. Nil takes them as they are.
    ///   - progress: Told how many of the records are done.
    /// - Returns: One result for each, in their order; nil where the platform did not show it.
    package func read(
        _ records: [PlatformRecord], into arena: SecretArena,
        trustsEmpty: Bool = false, isExpected: ((Int, SecretSlice) -> Bool)? = nil,
        progress: (Int) -> Void = { _ in }
    ) throws(VercelAPIError) -> [Result<SecretSlice?, VercelAPIError>] {
        var results = [Result<SecretSlice?, VercelAPIError>?](repeating: nil, count: records.count)
        for (place, value) in try together(records, into: arena) {
            guard value.count > 0, isExpected?(place, value) ?? true else { continue }
            results[place] = .success(value)
        }
        var rest = results.indices.filter { results[$0] == nil }[...]
        progress(records.count - rest.count)
        while !rest.isEmpty {
            let round = Array(rest.prefix(Self.roundCount))
            let answers = try client.environmentVariables(
                round.map { (project, records[$0].id) }, valuesInto: arena)
            for (place, answer) in zip(round, answers) {
                results[place] = answer.map { trustsEmpty ? $0.value : $0.provedValue }
            }
            rest = rest.dropFirst(round.count)
            progress(records.count - rest.count)
        }
        return results.compactMap { $0 }
    }

    // MARK: Whole targets

    /// A target, a custom environment, or a branch: what one request is for.
    fileprivate struct Place: Hashable {
        let target: String
        let branch: String?
    }

    /// Values by the record's place in `records`, read by whole targets where that saves requests.
    private func together(
        _ records: [PlatformRecord], into arena: SecretArena
    ) throws(VercelAPIError) -> [Int: SecretSlice] {
        guard records.count >= Self.fewest else { return [:] }
        let chosen = Self.places(for: records)
        guard chosen.count < records.count else { return [:] }
        let answers = try client.pulledEnvironments(
            chosen.map { (project, $0.place.target, $0.place.branch) }, valuesInto: arena)
        var values: [Int: SecretSlice] = [:]
        for ((_, covered), answer) in zip(chosen, answers) {
            let environment: PulledEnvironment
            do throws(VercelAPIError) {
                environment = try answer.get()
            } catch {
                // The call is not part of the public description, and may not be there.
                guard error.isRefusalOfCall else { throw error }
                continue
            }
            for place in covered {
                let key = records[place].key
                values[place] = environment.environment[key] ?? environment.buildEnvironment[key]
            }
        }
        return values
    }

    /// Few places that together show all records, each with those that it is asked for.
    ///
    /// A branch hides the general preview record of the same key, so its request is for its own
    /// records only.
    private static func places(
        for records: [PlatformRecord]
    ) -> [(place: Place, records: [Int])] {
        var open: [Place: Set<Int>] = [:]
        for (number, record) in records.enumerated() {
            let scope = record.attributes.scope
            for target in scope.targets.names + scope.customEnvironments {
                open[Place(target: target, branch: scope.branch), default: []].insert(number)
            }
        }
        var chosen: [(place: Place, records: [Int])] = []
        while let best = open.max(by: { left, right in
            (left.value.count, right.key.name) < (right.value.count, left.key.name)
        }), !best.value.isEmpty {
            chosen.append((best.key, best.value.sorted()))
            for place in open.keys { open[place]?.subtract(best.value) }
        }
        // A request for one or two records is better made for them alone.
        return chosen.filter { $0.records.count > 2 }
    }
}

extension PlatformValues.Place {
    fileprivate var name: String { "\(target)/\(branch ?? "")" }
}

extension ReadEnvironmentVariable {
    /// The value, unless it is an empty one of which the platform does not say that it is the value:
    /// it shows hidden ones so.
    fileprivate var provedValue: SecretSlice? {
        guard let value, value.count == 0 else { return value }
        return variable.type == .plain || variable.isDecrypted == true ? value : nil
    }
}

extension VercelAPIError {
    /// Tells whether the platform does not take this call, so that another way may be open.
    fileprivate var isRefusalOfCall: Bool {
        switch code {
        case .notFound, .badRequest, .gone, .notPossible, .forbidden, .malformedAnswer, .tooLarge:
            true
        default: false
        }
    }
}
