@testable import Vault

/// All vectors, regenerated: their descriptions are always the same, their nonces never.
struct VectorCatalogue {
    private(set) var vectors: [(vector: Vector, bytes: [UInt8])] = []

    init() throws {
        try addWhole()
        try addWholeValues()
        try addFronts()
        try addSlots()
        try addSecrets()
        try addSeals()
        try addBounds()
        try addEncodings()
        try addOrders()
        try addLayouts()
        try addValues()
        try addProofs()
        try addJournals()
        try addSections()
    }

    /// Adds a vault that must be of `kind`: "ok", "locked", "newer", "pre-release" or a class of
    /// damage.
    mutating func add(
        _ kind: String, _ name: String, _ description: String, _ vault: VectorVault,
        secret: Vector.Secret = .passphrase, change: (inout VectorVault) throws -> Void = { _ in }
    ) throws {
        var vault = vault
        try change(&vault)
        let exits: [String: Int32] = ["ok": 0, "newer": 1, "pre-release": 1, "locked": 3]
        let values = vault.values.sorted {
            ($0.project, $0.key, $0.targets.joined(), $0.branch ?? "", $0.version)
                < ($1.project, $1.key, $1.targets.joined(), $1.branch ?? "", $1.version)
        }
        let vector = Vector(
            file: "\(kind)-\(name).zgv", description: description, secret: secret, class: kind,
            exit: exits[kind] ?? 8, values: kind == "ok" ? values : nil)
        vectors.append((vector, try vault.file()))
    }

    /// Without the values, which the secret does not open.
    static func namesAlone(_ values: [Vector.Value]) -> [Vector.Value] {
        values.map { value in
            var value = value
            (value.value, value.valueHex) = (nil, nil)
            return value
        }
    }
}
