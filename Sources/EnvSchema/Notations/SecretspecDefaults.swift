/// The table `defaults` of a profile.
struct SecretspecDefaults: Sendable {
    var inherits = true
    var required: Bool?
    var value: String?
}
