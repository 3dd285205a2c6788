package import GroupPlaces
package import Groups

/// Reads changes of this machine's copy: those that are read in order many at once, others one by one.
package final class ChangeReader {
    /// All names, ascending, so that neighbours are in one folder.
    package let order: [GroupHash]
    private let group: GroupHash
    private let copy: any GroupPlace
    private var next = 0
    private var ahead: [ObjectPath: [UInt8]] = [:]
    private static let batch = 512
    private static let batchByteCount = 16 << 20

    package init(_ group: GroupHash, in copy: any GroupPlace, order names: [GroupHash]) {
        (self.group, self.copy) = (group, copy)
        order = names.sorted()
    }

    /// Returns the bytes of a change; nil if the copy does not have it.
    package func read(_ name: GroupHash) throws -> [UInt8]? {
        let path = ObjectPath.change(name)
        if let bytes = ahead.removeValue(forKey: path) { return bytes }
        guard next < order.count, order[next] == name else {
            return try copy.read([path], of: group).objects[path]
        }
        let paths = order[next...].prefix(Self.batch).map { ObjectPath.change($0) }
        let reading = try copy.read(paths, of: group, upTo: Self.batchByteCount)
        ahead = reading.objects
        next += paths.count - reading.remaining.count
        return ahead.removeValue(forKey: path)
    }
}
