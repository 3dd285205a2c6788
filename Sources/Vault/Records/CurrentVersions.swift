/// Where the current versions lie, one for each variable that has a value.
///
/// An array as it stands in the index, in ascending order of variables; which one is at which place
/// is looked up by halves until a version is added or dropped, and in a table from then on. Most
/// commands read thousands of them and add one or none.
package struct CurrentVersions: ExpressibleByDictionaryLiteral, Sendable {
    /// In no particular order once one was added or dropped. Nothing here moves a version to another
    /// variable.
    package internal(set) var values: [StoredVersion] = []
    /// nil while ``values`` are in ascending order of variables.
    private var places: [Identifier: Int]?

    /// Takes versions in strictly ascending order of variables.
    init(ascending versions: [StoredVersion]) {
        values = versions
    }

    /// Takes versions by variable.
    package init(dictionaryLiteral elements: (Identifier, StoredVersion)...) {
        for (variable, version) in elements { self[variable] = version }
    }

    /// How many there are.
    package var count: Int { values.count }

    /// The current version of a variable; nil where the vault holds no value of it.
    package subscript(variable: Identifier) -> StoredVersion? {
        get { place(of: variable).map { values[$0] } }
        set {
            if let newValue {
                updateValue(newValue, forKey: variable)
            } else if let place = place(of: variable) {
                remove(at: place)
            }
        }
    }

    /// Puts a version in place of the variable's current one, and returns that.
    @discardableResult
    mutating func updateValue(
        _ version: StoredVersion, forKey variable: Identifier
    ) -> StoredVersion? {
        precondition(version.variable == variable)
        if let place = place(of: variable) {
            let old = values[place]
            values[place] = version
            return old
        }
        makeTable()
        places?[variable] = values.count
        values.append(version)
        return nil
    }

    private mutating func remove(at place: Int) {
        makeTable()
        places?[values[place].variable] = nil
        let last = values.removeLast()
        guard place < values.count else { return }
        values[place] = last
        places?[last.variable] = place
    }

    private mutating func makeTable() {
        guard places == nil else { return }
        var table: [Identifier: Int] = [:]
        table.reserveCapacity(values.count + 1)
        for place in values.indices { table[values[place].variable] = place }
        places = table
    }

    /// Where in ``values`` the version of a variable is; nil where the vault holds no value of it.
    ///
    /// - Parameter guess: Where it may be. Variables are in the same order, and nearly all have a value.
    func place(of variable: Identifier, guess: Int? = nil) -> Int? {
        if let guess, guess < values.count, values[guess].variable == variable { return guess }
        if let places { return places[variable] }
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if values[middle].variable < variable { low = middle + 1 } else { high = middle }
        }
        return low < values.count && values[low].variable == variable ? low : nil
    }
}
