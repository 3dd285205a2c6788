import EnvOperations
import Foundation
internal import JSON
import Sandbox
import TestSupport
import Vault

/// A command that was run, and everything known about it from outside.
struct ModelRun {
    let command: ModelCommand
    let result: ProgramResult
    /// Whether the model killed it.
    let isKilled: Bool
    /// Its requests, with Vercel's state before and after each.
    let moments: [RequestObserver.Moment]
    /// The method and path of the unserved request at which it was killed.
    let lost: (method: String, path: String)?
    /// Vercel's state before and after.
    let storedBefore: [StoredVariable]
    let storedAfter: [StoredVariable]
    /// The vault's content before and after.
    let before: ModelMachine.Contents
    let after: ModelMachine.Contents

    /// The times when somebody acted during its question.
    let interludeAt: ContinuousClock.Instant?
    /// The environment of the live deployment after a rotation.
    let built: [String: String]?

    /// Whether the command that revokes the old value ran.
    let hasRevoked: Bool

    /// Its exit code; nil if a signal ended it.
    var status: Int32? { result.status }
    /// The report on stdout.
    var report: JSONDocument? { try? JSONDocument(result.standardOutput) }
    /// All its output.
    var words: String { result.output + result.error + result.screen }

    /// Its requests for people: the answer to each, and its fault.
    var requests: [String] {
        moments.map { moment in
            let path = moment.request.path.split(separator: "?").first ?? ""
            return
                "\(moment.request.method) \(path) \(moment.request.status)\(moment.fault.map { " (\($0))" } ?? "")"
        }
    }

    /// How it ended, in one word.
    var end: String {
        isKilled
            ? "killed" : result.timedOut ? "too long" : status.map { "\($0)" } ?? "\(result.end)"
    }

    /// The ids and keys of a write that was never served: the id in its path, or everything that
    /// was to be sent.
    var lostNames: Set<String>? {
        guard let lost, lost.method != "GET" else { return nil }
        let parts = lost.path.split(separator: "/").dropFirst().map(String.init)
        guard parts.count >= 3, parts[0] == "projects", parts[2] == "env" else { return nil }
        if parts.count == 4 { return [parts[3]] }
        return after.records.reduce(into: []) { names, record in
            guard record.sync != .synced else { return }
            names.formUnion([record.variable.name, record.variable.remote?.id ?? ""])
        }
    }

    // MARK: Times

    /// A time during the command: four for each request.
    typealias Time = Int

    /// Vercel's state at a time.
    func stored(at time: Time) -> [StoredVariable] {
        guard moments.indices.contains(time / 4) else {
            return time < 0 ? storedBefore : storedAfter
        }
        let moment = moments[time / 4]
        return switch time % 4 {
        case 0: moment.before
        case 1: moment.asked
        case 2: moment.served
        default: moment.after
        }
    }

    /// The time since which a record is as it is; -1 for before the command.
    func beginning(of record: StoredVariable) -> Time {
        if storedBefore.contains(record) { return -1 }
        return (0..<(moments.count * 4)).first { stored(at: $0).contains(record) }
            ?? moments.count * 4
    }

    /// The last listing before a request that this command received, by its position among the
    /// requests.
    func listing(before place: Int) -> Int? {
        moments.indices.prefix(place).last { moments[$0].isListing && isHeard($0) }
    }

    /// The first listing that this command received.
    var firstListing: Int? { moments.indices.first { moments[$0].isListing && isHeard($0) } }
    /// The last one.
    var lastListing: Int? { listing(before: moments.count) }

    /// Returns whether a request's answer arrived and was a success.
    func isHeard(_ place: Int) -> Bool {
        // A lost one is not among them.
        let isKiller =
            isKilled && command.kill?.fate != .lost && place == moments.count - 1
        return moments[place].isAnswered && !isKiller
    }
}

extension RequestObserver.Moment {
    /// The names of its faults, without acts.
    private var faults: [String] {
        (fault?.components(separatedBy: ", ") ?? []).compactMap { text in
            let words = text.split(separator: " ")
            return words.count > 2 ? words[2].split(separator: ":").first.map(String.init) : nil
        }.filter { !["before", "then"].contains($0) }
    }

    /// The parts of the path after the version.
    private var parts: [String] {
        let path = request.path.split(separator: "?").first ?? ""
        return path.split(separator: "/").dropFirst().map(String.init)
    }

    /// Returns whether it lists a project's variables.
    var isListing: Bool {
        request.method == "GET" && parts.count == 3 && parts[0] == "projects" && parts[2] == "env"
    }

    /// Returns whether it may change a project's variables.
    var isWrite: Bool {
        request.method != "GET" && parts.count >= 3 && parts[0] == "projects" && parts[2] == "env"
    }

    /// Returns whether it changes or deletes existing variables: a mere creation does neither.
    var isChange: Bool {
        isWrite && (request.method != "POST" || request.path.contains("upsert=true"))
    }

    /// Returns whether it is about variables.
    var isAboutVariables: Bool { parts.contains("env") }

    /// Vercel's id of the only record that it is about.
    var recordID: String? { parts.count == 4 ? parts[3] : nil }

    /// The ids and keys that it names.
    var names: Set<String> {
        var names = Set([recordID].compactMap { $0 })
        let items = request.body?.array ?? [request.body].compactMap { $0 }
        for item in items {
            if let key = item["key"]?.string { names.insert(key) }
            for id in item["ids"]?.array ?? [] { names.formUnion([id.string].compactMap { $0 }) }
        }
        return names
    }

    /// Returns whether it requests deployments.
    var asksForDeployment: Bool { request.method == "GET" && parts.first == "deployments" }

    /// Returns whether its answer was complete and true at the time of the request.
    var isAnswered: Bool {
        (200..<300).contains(request.status)
            && faults.allSatisfy { word in
                !["lost-answer", "truncate", "html"].contains(word) && Int(word) == nil
            } && !(fault?.contains("escapes:all") ?? false)
    }

    /// Returns whether zg-env waits before it retries.
    var makesWait: Bool {
        let status = request.status
        return status == 0 || status == 408 || status == 429 || status >= 500
            || !Set(faults).isDisjoint(with: ["lost-answer", "truncate", "ongoing"])
    }
}
