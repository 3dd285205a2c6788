package import VercelAPI

/// The records of a project that Vercel listed.
///
/// Only ``isComplete`` says whether a record that is not among them is gone, so whatever infers a
/// removal takes this type instead of an array.
package struct ListedRecords: Equatable, Sendable {
    package private(set) var records: [VercelRecord]
    /// How many production variables Vercel hides from the token.
    package private(set) var hiddenProduction: Int

    package init(_ records: [VercelRecord], hiddenProduction: Int = 0) {
        (self.records, self.hiddenProduction) = (records, hiddenProduction)
    }

    /// Converts the API's list.
    package init(
        _ list: VariableList<EnvironmentVariable>, environments: CustomEnvironmentNames
    ) {
        records = list.variables.map { VercelRecord($0, environments: environments) }
        hiddenProduction = list.hiddenProduction
    }

    /// Whether a record that is not listed does not exist.
    package var isComplete: Bool { hiddenProduction == 0 }

    /// A clause about what is hidden, such as "Vercel hides 2 production variables from this token".
    package var hidingClause: String {
        let noun = hiddenProduction == 1 ? "variable" : "variables"
        return "Vercel hides \(hiddenProduction) production \(noun) from this token"
    }

    /// Adds a record.
    mutating func append(_ record: VercelRecord) { records.append(record) }

    /// Removes records that are known to be gone, or that the caller does not look at.
    package mutating func removeAll(where isLeft: (VercelRecord) -> Bool) {
        records.removeAll(where: isLeft)
    }

    /// Learns that a later list hides more.
    package mutating func hide(_ count: Int) {
        hiddenProduction = Swift.max(hiddenProduction, count)
    }
}

extension ListedRecords: RandomAccessCollection {
    package var startIndex: Int { records.startIndex }
    package var endIndex: Int { records.endIndex }
    package subscript(position: Int) -> VercelRecord { records[position] }
}

extension ListedRecords: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: VercelRecord...) { self.init(elements) }
}
