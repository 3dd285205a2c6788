package import Sealing
internal import Vault
package import VercelAPI

/// Reads the values of many variables of one project with few requests.
///
/// One request returns all values of a target and replaces many single ones. Values that it omits
/// or returns empty, as Vercel also does for hidden ones, are requested one by one.
package struct VercelValues {
    private let client: VercelClient
    private let project: String

    /// The smallest number of records for which whole targets are read. Fewer single requests run
    /// in parallel, so they take no longer than one.
    private static let fewest = 9
    /// The number of single requests between two progress reports.
    private static let roundCount = 64

    /// - Parameter project: Vercel's id of the project.
    package init(_ client: VercelClient, project: String) {
        self.client = client
        self.project = project
    }

    /// Reads the values of `records`.
    ///
    /// - Parameters:
    ///   - trustsEmpty: Whether an empty value counts as shown even if Vercel does not say that it
    ///     is decrypted.
    ///   - isExpected: Called for each value that came with a whole target; if it returns false,
    ///     the variable is requested by itself. Nil accepts all values.
    ///   - progress: Called with the number of finished records.
    /// - Returns: One result for each, in their order; nil if Vercel did not show the value.
    package func read(
        _ records: [VercelRecord], into arena: SecretArena,
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
                results[place] = answer.map { trustsEmpty ? $0.value : $0.confirmedValue }
            }
            rest = rest.dropFirst(round.count)
            progress(records.count - rest.count)
        }
        return results.compactMap { $0 }
    }

    // MARK: Whole targets

    /// The target or custom environment, and branch, of one request.
    fileprivate struct Place: Hashable {
        let target: String
        let branch: String?
    }

    /// Returns values by index in `records`, read by whole targets if that saves requests.
    private func together(
        _ records: [VercelRecord], into arena: SecretArena
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
                // The call is undocumented and may not exist.
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

    /// Returns few places that together cover all records, each with the records to read there.
    ///
    /// A branch hides the general preview record of the same key, so its request covers only its
    /// own records.
    private static func places(
        for records: [VercelRecord]
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
        // For one or two records, single requests are better.
        return chosen.filter { $0.records.count > 2 }
    }
}

extension VercelValues.Place {
    fileprivate var name: String { "\(target)/\(branch ?? "")" }
}

extension ReadEnvironmentVariable {
    /// The value, unless it is empty and not marked as decrypted, which is how Vercel returns
    /// hidden values.
    fileprivate var confirmedValue: SecretSlice? {
        guard let value, value.count == 0 else { return value }
        return variable.type == .plain || variable.isDecrypted == true ? value : nil
    }
}

extension VercelAPIError {
    /// Whether Vercel does not support this call, so that another one may work.
    fileprivate var isRefusalOfCall: Bool {
        switch code {
        case .notFound, .badRequest, .gone, .notPossible, .forbidden, .malformedAnswer, .tooLarge:
            true
        default: false
        }
    }
}
