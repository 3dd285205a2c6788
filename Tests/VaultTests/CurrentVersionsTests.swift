import Testing

@testable import Vault

@Suite("Offsets of current versions")
struct CurrentVersionsTests {
    private func version(of variable: Identifier, offset: UInt64) -> StoredVersion {
        StoredVersion(
            variable: variable, version: 1, id: variable, batch: variable, offset: offset,
            length: 1,
            checksum: .init([UInt8](repeating: 0, count: 32)), createdAt: 0, formerName: nil)
    }

    @Test func `versions are found, added, replaced and removed as in a dictionary`() {
        var generator = SystemRandomNumberGenerator()
        let identifiers = (0..<60).map { _ in Identifier.random() }
        for _ in 0..<50 {
            let first = identifiers.filter { _ in Bool.random() }.sorted()
            var model: [Identifier: UInt64] = [:]
            for (number, id) in first.enumerated() { model[id] = UInt64(number) }
            let all = first.enumerated().map { version(of: $1, offset: UInt64($0)) }
            // Those of one section, or of two.
            let half = all.partitionedAtRandom()
            var versions: CurrentVersions = [:]
            versions.append(ascending: half.0)
            versions.append(ascending: half.1)
            for step in 100..<UInt64.random(in: 100...300) {
                let id = identifiers.randomElement(using: &generator) ?? identifiers[0]
                switch Int.random(in: 0..<4) {
                case 0:
                    versions[id] = nil
                    model[id] = nil
                case 1:
                    versions[id]?.offset = step
                    if model[id] != nil { model[id] = step }
                case 2:
                    let old = versions.updateValue(version(of: id, offset: step), forKey: id)
                    #expect(old?.offset == model.updateValue(step, forKey: id))
                default:
                    versions[id] = version(of: id, offset: step)
                    model[id] = step
                }
            }
            #expect(versions.count == model.count)
            for id in identifiers { #expect(versions[id]?.offset == model[id]) }
            for version in versions.values { #expect(model[version.variable] == version.offset) }
        }
    }
}

extension [StoredVersion] {
    fileprivate func partitionedAtRandom() -> ([StoredVersion], [StoredVersion]) {
        let second = Bool.random() ? [] : filter { _ in Bool.random() }
        return (filter { !second.contains($0) }, second)
    }
}
