internal import JSON

/// A page of a list sorted from new to old, with cursors for its neighbors.
struct Page<Element> {
    let elements: [Element]
    let next: Int64?
    let prev: Int64?

    /// Selects the elements older than `until` and newer than `since`, at most `limit`.
    init(
        _ all: [Element], time: (Element) -> Int64, since: Int64?, until: Int64?, limit: Int
    ) {
        let sorted = all.sorted { time($0) > time($1) }
            .filter { element in
                (until.map { time(element) < $0 } ?? true)
                    && (since.map { time(element) > $0 } ?? true)
            }
        var count = min(limit, sorted.count)
        // Elements of the same time stay on one page; otherwise the cursor would skip the rest.
        while count > 0, count < sorted.count, time(sorted[count]) == time(sorted[count - 1]) {
            count += 1
        }
        elements = Array(sorted.prefix(count))
        next = count < sorted.count ? elements.last.map(time) : nil
        prev = until == nil ? nil : elements.first.map(time)
    }

    /// The `pagination` object.
    var json: JSONValue {
        [
            "count": .integer(Int64(elements.count)), "next": .integer(orNull: next),
            "prev": .integer(orNull: prev),
        ]
    }
}
