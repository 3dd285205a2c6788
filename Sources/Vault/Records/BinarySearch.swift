extension Range<Int> {
    /// Returns the first index that does not satisfy `precedes`, or the end. Those that do must come
    /// first.
    func firstIndex(notPreceding precedes: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if precedes(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
