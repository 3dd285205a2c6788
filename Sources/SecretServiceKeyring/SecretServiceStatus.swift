/// What the desktop keyring looks like at the moment.
package struct SecretServiceStatus: Equatable, Sendable {
    /// The collection that new items go to.
    package enum Collection: Equatable, Sendable {
        /// There is none; storing an item asks the user to make one.
        case missing
        /// Reading or storing an item asks the user to unlock it.
        case locked
        /// Items can be read and stored.
        case unlocked
    }

    /// The program behind the service, such as "gnome-keyring", or "the Secret Service" where it
    /// cannot be told.
    package let serviceName: String
    /// The state of the default collection.
    package let collection: Collection
}
