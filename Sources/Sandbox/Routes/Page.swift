internal import JSON

/// A part of a list that is sorted from new to old, and how to ask for its neighbours.
struct Page<Element> {
    let elements: [Element]
    let next: Int64?
    let prev: Int64?

    /// The elements older than `until` and newer than `since`, at most `limit`.
    init(
        _ all: [Element], time: (Element) -> Int64, since: Int64?, until: Int64?, limit: Int
    ) {
        let sorted = all.sorted { time($0) > time($1) }
            .filter { element in
                (until.map { time(element) < $0 } ?? true)
                    && (since.map { time(element) > $0 } ?? true)
            }
        var count = min(limit, sorted.count)
        // Elements of one moment stay on one page, else the cursor would skip the rest of them.
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
            "count": .integer(Int64(elements.count)), "next": JSONValue(next),
            "prev": JSONValue(prev),
        ]
    }
}
