internal import CLinux
internal import Glibc
internal import Searching
internal import SystemFiles

/// Scans files, staged content or a stream, and collects the findings.
final class ScanWork {
    /// A scanned text with findings.
    struct Text {
        let path: [UInt8]
        let matches: [ScanMatch]
    }

    /// A path that was not scanned, or not completely.
    struct Skipped {
        let path: [UInt8]
        let reason: String
        /// Whether a part of it was scanned.
        let isPartial: Bool
    }

    private let table: SearchTable
    private(set) var texts: [Text] = []
    private(set) var skipped: [Skipped] = []
    private(set) var fileCount = 0
    private(set) var byteCount: UInt64 = 0

    init(_ table: SearchTable) {
        self.table = table
    }

    private static let fullReason = "scanning stopped after \(ValueScanner.matchLimit) findings"

    private func add(_ path: [UInt8], _ matches: [ScanMatch], bytes: UInt64, isFull: Bool) {
        fileCount += 1
        byteCount += bytes
        if !matches.isEmpty { texts.append(Text(path: path, matches: matches)) }
        if isFull {
            skipped.append(Skipped(path: path, reason: Self.fullReason, isPartial: true))
        }
    }

    // MARK: A stream

    func readStream(_ descriptor: Int32) throws {
        let scanner = ValueScanner(table)
        let outcome = try Self.read(descriptor, scanner)
        if let problem = outcome.problem {
            skipped.append(
                Skipped(path: [0x2D], reason: problem, isPartial: outcome.bytes > 0))
        }
        add([0x2D], try scanner.finish(), bytes: outcome.bytes, isFull: scanner.isFull)
    }

    private static func read(
        _ descriptor: Int32, _ scanner: ValueScanner
    ) throws -> (bytes: UInt64, problem: String?) {
        var bytes: UInt64 = 0
        while !scanner.isFull {
            var problem: Int32 = 0
            let got = unsafe try scanner.read { buffer in
                let got = unsafe DescriptorReading.read(descriptor, into: buffer)
                if got < 0 { problem = errno }
                return max(got, 0)
            }
            // A non-blocking descriptor without data is not at its end.
            if problem == EAGAIN {
                DescriptorReading.waitForInput(descriptor)
                continue
            }
            if problem != 0 { return (bytes, SystemError(problem).reason) }
            if got == 0 { break }
            bytes += UInt64(got)
        }
        return (bytes, nil)
    }

    // MARK: Files

    /// Scans files on two threads.
    func readFiles(_ entries: [FileWalk.Entry], _ turns: GlobalLock, _ progress: WorkProgress)
        throws
    {
        var found: [Int: Outcome] = [:]
        var failure: (any Error)?
        var next = 0
        let isLarge = entries.count > 64
        turns.run(2, limit: isLarge ? 2 : 1) { [self] _ in
            let scanner = ValueScanner(table)
            while next < entries.count, failure == nil {
                // Several at once, because taking the lock costs as much as a small file.
                let places = next..<min(next + 16, entries.count)
                next = places.upperBound
                progress.update("Scanned \(places.lowerBound) of \(entries.count) files")
                let outcomes = turns.away {
                    places.map { place in Result { try Self.outcome(entries[place], scanner) } }
                }
                for (place, outcome) in zip(places, outcomes) {
                    switch outcome {
                    case .success(let outcome): found[place] = outcome
                    case .failure(let error): failure = error
                    }
                }
            }
            return failure == nil
        }
        progress.finish()
        if let failure { throw failure }
        for (place, entry) in entries.enumerated() {
            guard let outcome = found[place] else { continue }
            if let problem = outcome.problem {
                skipped.append(
                    Skipped(path: entry.path, reason: problem, isPartial: outcome.bytes > 0))
            }
            if outcome.wasRead {
                add(
                    entry.path, outcome.matches, bytes: outcome.bytes, isFull: outcome.isFull)
            }
        }
    }

    /// The result of one file.
    private struct Outcome {
        var matches: [ScanMatch] = []
        var bytes: UInt64 = 0
        var isFull = false
        var wasRead = false
        var problem: String?
    }

    private static func outcome(
        _ entry: FileWalk.Entry, _ scanner: ValueScanner
    ) throws -> Outcome {
        if let problem = entry.problem { return Outcome(problem: problem) }
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (entry.isNamed ? 0 : O_NOFOLLOW)
        let descriptor = unsafe CPath.with(entry.path) { unsafe open($0, flags) }
        guard descriptor >= 0 else {
            // Deleted or replaced by a link since it was listed.
            let isGone = !entry.isNamed && (errno == ENOENT || errno == ELOOP)
            return Outcome(problem: isGone ? nil : SystemError(errno).reason)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            return Outcome(problem: SystemError(errno).reason)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return Outcome(problem: "it is not a regular file")
        }
        scanner.begin()
        var file = ScannedFile(descriptor, status)
        let problem = try file.read(scanner)
        return Outcome(
            matches: try scanner.finish(), bytes: file.bytes, isFull: scanner.isFull, wasRead: true,
            problem: problem)
    }

    // MARK: What is staged

    func readStaged(_ staged: StagedBlobs) throws {
        let scanner = ValueScanner(table)
        var bytes: UInt64 = 0
        var isFull = false
        try staged.readAll(
            begin: { _ in
                scanner.begin()
                (bytes, isFull) = (0, false)
            },
            piece: { descriptor, limit in
                // Read to its end even if full, because the next blob follows in the same stream.
                if scanner.isFull { isFull = true }
                let got = unsafe try scanner.read { buffer in
                    // An error counts as an early end, which readAll() reports.
                    unsafe max(
                        DescriptorReading.read(
                            descriptor, into: .init(rebasing: buffer.prefix(limit))), 0)
                }
                bytes += UInt64(got)
                return got
            },
            end: { entry, problem in
                if let problem {
                    skipped.append(
                        Skipped(path: entry.path, reason: problem, isPartial: false))
                } else {
                    add(entry.path, try scanner.finish(), bytes: bytes, isFull: isFull)
                }
            })
    }
}
