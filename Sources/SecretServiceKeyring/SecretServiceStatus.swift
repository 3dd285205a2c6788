/// The state of the desktop keyring.
package struct SecretServiceStatus: Equatable, Sendable {
    /// The collection for new items.
    package enum Collection: Equatable, Sendable {
        /// It does not exist; storing an item asks the user to create one.
        case missing
        /// Reading or storing an item asks the user to unlock it.
        case locked
        /// Items can be read and stored.
        case unlocked
    }

    /// The program behind the service, such as "gnome-keyring", or "the Secret Service" if unknown.
    package let serviceName: String
    package let collection: Collection
}
