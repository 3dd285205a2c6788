/// Why bytes are not read as JSON. Nothing of them is in it.
package enum JSONError: Error, Equatable {
    /// Not JSON, or not of the form that was asked for.
    case malformed
    /// More than ``JSONTree/maximumDepth`` objects and arrays inside of each other.
    case tooDeep
    /// No guarded memory left for what was to be copied.
    case outOfMemory
}
