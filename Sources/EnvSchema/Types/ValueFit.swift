/// Whether a value fits its declared type. The reasons are for the user's terminal and contain
/// nothing of the value.
package enum ValueFit: Equatable, Sendable {
    case fits
    /// The other tool accepts it only by converting; a program that reads the variable itself sees
    /// the stored text.
    case coerced(String)
    case misfit(String)
    /// Nothing here can say whether it fits.
    case unchecked(String)

    /// Returns this with words before the reason.
    func prefixed(_ words: String) -> ValueFit {
        switch self {
        case .fits: .fits
        case .coerced(let reason): .coerced(words + reason)
        case .misfit(let reason): .misfit(words + reason)
        case .unchecked(let reason): .unchecked(words + reason)
        }
    }

    /// Returns the graver of the two; the first of equals.
    func combined(with other: ValueFit) -> ValueFit { other.gravity > gravity ? other : self }

    private var gravity: Int {
        switch self {
        case .fits: 0
        case .coerced: 1
        case .unchecked: 2
        case .misfit: 3
        }
    }
}
