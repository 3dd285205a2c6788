extension EnvironmentVariableRules {
    /// The size and scope of one variable as it would be on Vercel.
    package struct Entry: Sendable, Equatable {
        package var key: String
        package var valueByteCount: Int
        package var targets: [EnvironmentVariable.Target]
        /// The only git branch it applies to.
        package var gitBranch: String?
        package var customEnvironmentIds: [String]

        package init(
            key: String, valueByteCount: Int, targets: [EnvironmentVariable.Target],
            gitBranch: String? = nil, customEnvironmentIds: [String] = []
        ) {
            self.key = key
            self.valueByteCount = valueByteCount
            self.targets = targets
            self.gitBranch = gitBranch
            self.customEnvironmentIds = customEnvironmentIds
        }

        fileprivate var byteCount: Int {
            let (sum, overflow) = key.utf8.count.addingReportingOverflow(max(valueByteCount, 0))
            return overflow ? Int.max : sum
        }
    }

    /// Returns the scopes whose total size exceeds the limit.
    ///
    /// - Parameter entries: All variables that the project would have afterwards.
    package static func totalProblems(of entries: [Entry]) -> [Problem] {
        var sizes: [(scope: String, byteCount: Int)] = []
        let targets = Set(entries.flatMap(\.targets)).sorted { $0.rawValue < $1.rawValue }
        for target in targets {
            let general = entries.filter { $0.targets.contains(target) && $0.gitBranch == nil }
            sizes.append((target.rawValue, total(general)))
            let branches = Set(
                entries.filter { $0.targets.contains(target) }.compactMap(\.gitBranch))
            for branch in branches.sorted() {
                let own = entries.filter { $0.targets.contains(target) && $0.gitBranch == branch }
                let keys = Set(own.map(\.key))
                // For its branch, a branch's own variable replaces the general one.
                let rest = general.filter { !keys.contains($0.key) }
                sizes.append(("\(target.rawValue) (\(branch))", total(own + rest)))
            }
        }
        for id in Set(entries.flatMap(\.customEnvironmentIds)).sorted() {
            sizes.append((id, total(entries.filter { $0.customEnvironmentIds.contains(id) })))
        }
        return sizes.filter { $0.byteCount > maximumTotalByteCount }.map {
            .totalTooLarge(scope: $0.scope, byteCount: $0.byteCount)
        }
    }

    /// Returns the environments that get more variables than the limit.
    ///
    /// - Parameters:
    ///   - entries: All variables that the project would have afterwards.
    ///   - before: Those that it has now. An environment without additions is no problem.
    package static func countProblems(of entries: [Entry], before: [Entry]) -> [Problem] {
        let (wanted, present) = (counts(of: entries), counts(of: before))
        return wanted.sorted { $0.key < $1.key }.compactMap { environment, count in
            guard count > maximumCount, count > present[environment] ?? 0 else { return nil }
            return .tooMany(environment: environment, count: count)
        }
    }

    private static func counts(of entries: [Entry]) -> [String: Int] {
        var counts: [String: Int] = [:]
        for entry in entries {
            let targets = Set(entry.targets.map(\.rawValue))
            for name in targets.union(entry.customEnvironmentIds) { counts[name, default: 0] += 1 }
        }
        return counts
    }

    private static func total(_ entries: [Entry]) -> Int {
        entries.reduce(0) { sum, entry in
            let (next, overflow) = sum.addingReportingOverflow(entry.byteCount)
            return overflow ? Int.max : next
        }
    }
}
