/// Why parsing failed. Contains no part of the input.
package enum JSONError: Error, Equatable {
    /// Not JSON, or not of the requested form.
    case malformed
    /// Objects and arrays are nested deeper than ``JSONTree/maximumDepth``.
    case tooDeep
    /// No guarded memory is left for the copy.
    case outOfMemory
}
