/// The current versions, one for each variable that has a value.
///
/// An array, sorted by variable if it is that of one section. Lookups then use binary search until a
/// version is added or removed, and a dictionary from then on: most commands read thousands and add
/// one or none.
package struct CurrentVersions: ExpressibleByDictionaryLiteral, Sendable {
    /// Unsorted once a version was added or removed. Callers must not assign a version to another
    /// variable.
    package internal(set) var values: [StoredVersion] = []
    /// nil while ``values`` are sorted by variable.
    private var places: [Identifier: Int]?

    /// Adds the versions of a section, in strictly ascending order of variables.
    mutating func append(ascending versions: [StoredVersion]) {
        if versions.isEmpty { return }
        guard !values.isEmpty else {
            values = versions
            return
        }
        makeTable()
        places?.reserveCapacity(values.count + versions.count)
        for version in versions {
            places?[version.variable] = values.count
            values.append(version)
        }
    }

    package init(dictionaryLiteral elements: (Identifier, StoredVersion)...) {
        for (variable, version) in elements { self[variable] = version }
    }

    package var count: Int { values.count }

    /// The current version of a variable; nil if the vault has no value.
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

    /// Sets the current version of a variable, and returns the old one.
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

    /// Returns the index of a variable's version in ``values``, or nil.
    ///
    /// - Parameter guess: A likely index. Variables have the same order, and nearly all have a
    ///   value.
    func place(of variable: Identifier, guess: Int? = nil) -> Int? {
        if let guess, guess < values.count, values[guess].variable == variable { return guess }
        if let places { return places[variable] }
        let place = values.indices.firstIndex(notPreceding: { values[$0].variable < variable })
        return place < values.count && values[place].variable == variable ? place : nil
    }
}
