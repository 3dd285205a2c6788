import EnvOperations
import JSON
import Testing

@Suite("Watching deployments")
struct DeploymentWatcherTests {
    static let hour: Int64 = 3_600_000
    static let now: Int64 = 1_700_000_000_000

    /// A watcher of the project `web`, chosen now.
    struct Setting {
        var watcher = DeploymentWatcher()
        var chosen = ["web": now]

        init() { watcher.watch(chosen) }

        /// Takes a whole list and returns the events, as `kind id`.
        mutating func take(_ list: WatchedDeployment..., at time: Int64 = now + hour) -> [String] {
            let changes = watcher.take(list, chosen: chosen, now: time)
            _ = watcher.settle()
            return changes.map { "\($0.kind.rawValue) \($0.deployment.id)" }
        }
    }

    static func deployment(
        _ id: String, _ phase: WatchedDeployment.Phase, at age: Int64 = 1, project: String = "web",
        isPromoted: Bool = false, isStaged: Bool = false
    ) -> WatchedDeployment {
        WatchedDeployment(
            id: id, project: project, phase: phase, createdAt: now + age, isPromoted: isPromoted,
            isStaged: isStaged)
    }

    @Test func `numbers that this program never writes are refused`() throws {
        func changed<Value: Codable>(
            _ value: Value, _ name: String, to number: Int64
        ) throws -> Value {
            let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            #expect(text.contains("\"\(name)\":0"), "\(text)")
            return try JSONDecoder().decode(
                Value.self,
                from: Array(text.replacing("\"\(name)\":0", with: "\"\(name)\":\(number)").utf8))
        }
        #expect(DeploymentWatcher().isPlausible && WatchProgress().isPlausible)
        for number in [Int64.min, -1, .max] {
            for name in ["newest", "newestBefore"] {
                #expect(try !changed(DeploymentWatcher(), name, to: number).isPlausible)
            }
            for name in ["untold", "unseen"] {
                #expect(try !changed(WatchProgress(), name, to: number).isPlausible)
            }
        }
    }

    @Test func `every event is reported once, however often it is listed`() {
        var setting = Setting()
        #expect(setting.take(Self.deployment("a", .waiting)) == [])
        #expect(setting.watcher.isBuilding)
        #expect(setting.take(Self.deployment("a", .building)) == ["started a"])
        #expect(setting.take(Self.deployment("a", .building)) == [])
        #expect(setting.take(Self.deployment("a", .ready)) == ["ready a"])
        #expect(setting.take(Self.deployment("a", .ready)) == [])
        #expect(!setting.watcher.isBuilding)
    }

    @Test func `a deployment that began and ended between two lists is reported in order`() {
        var setting = Setting()
        #expect(
            setting.take(
                Self.deployment("c", .canceled, at: 3), Self.deployment("b", .failed, at: 2),
                Self.deployment("a", .ready, at: 1))
                == [
                    "started a", "ready a", "started b", "failed b", "started c", "canceled c",
                ])
    }

    @Test func `late or incomplete lists report nothing twice`() {
        var setting = Setting()
        _ = setting.take(Self.deployment("a", .ready))
        #expect(setting.take(Self.deployment("a", .building)) == [])
        #expect(setting.take() == [])
        #expect(setting.take(Self.deployment("a", .ready)) == [])
        // The same end in other words is the same end.
        #expect(setting.take(Self.deployment("a", .canceled)) == [])
        #expect(setting.take(Self.deployment("a", .deleted)) == [])
    }

    @Test func `a deployment that is not listed is requested until it has ended or is gone`() {
        var setting = Setting()
        _ = setting.take(Self.deployment("a", .building), Self.deployment("b", .building, at: 2))
        #expect(setting.watcher.unlisted(in: []) == ["a", "b"])
        #expect(setting.watcher.unlisted(in: [Self.deployment("b", .building)]) == ["a"])
        setting.watcher.forget("a")
        #expect(setting.watcher.unlisted(in: []) == ["b"])
        _ = setting.take(Self.deployment("b", .failed, at: 2))
        #expect(setting.watcher.unlisted(in: []) == [])
    }

    @Test func `going live is reported only for a deployment that was waiting for it`() {
        var setting = Setting()
        _ = setting.take(Self.deployment("a", .ready, isStaged: true))
        #expect(setting.take(Self.deployment("a", .ready, isPromoted: true)) == ["promoted a"])
        #expect(setting.take(Self.deployment("a", .ready, isPromoted: true)) == [])
        #expect(
            setting.take(Self.deployment("b", .ready, isPromoted: true)) == [
                "started b", "ready b",
            ])
    }

    @Test func `of a newly chosen project only later progress is reported`() {
        var setting = Setting()
        let minute: Int64 = 60_000
        #expect(
            setting.take(
                Self.deployment("old", .ready, at: -minute),
                Self.deployment("on", .building, at: -minute),
                Self.deployment("ancient", .building, at: -2 * Self.hour)) == [])
        #expect(setting.take(Self.deployment("on", .ready, at: -minute)) == ["ready on"])
        #expect(setting.take(Self.deployment("ancient", .ready, at: -2 * Self.hour)) == [])
    }

    @Test func `projects that are not watched are ignored, and forgotten once no longer watched`() {
        var setting = Setting()
        #expect(setting.take(Self.deployment("x", .failed, project: "api")) == [])
        _ = setting.take(Self.deployment("a", .building))
        #expect(setting.watcher.entryCount == 1)
        setting.watcher.watch(["api": Self.now])
        #expect(setting.watcher.entryCount == 0)
        #expect(!setting.watcher.isBuilding)
    }

    @Test func `lists reach back an hour, and to the oldest unfinished deployment`() {
        var setting = Setting()
        #expect(setting.watcher.since == Self.now - Self.hour - 1)
        _ = setting.take(Self.deployment("a", .ready, at: 5 * Self.hour), at: Self.now + .max / 2)
        // The next list reaches as far back: this one may have left something out.
        #expect(setting.watcher.since == Self.now - Self.hour - 1)
        _ = setting.take()
        #expect(setting.watcher.since == Self.now + 4 * Self.hour - 1)
        _ = setting.take(
            Self.deployment("b", .building, at: 6 * Self.hour),
            Self.deployment("c", .ready, at: 9 * Self.hour), at: Self.now + .max / 2)
        _ = setting.take()
        #expect(setting.watcher.since == Self.now + 6 * Self.hour - 1)
        // A deployment that hangs does not make lists long for ever.
        _ = setting.take(
            Self.deployment("d", .ready, at: 24 * Self.hour), at: Self.now + .max / 2)
        _ = setting.take()
        #expect(setting.watcher.since == Self.now + 23 * Self.hour - 1)
        #expect(setting.watcher.unlisted(in: []) == ["b"])
        #expect(DeploymentWatcher().since == nil)
    }

    @Test func `a deployment from the future does not make others old`() {
        var setting = Setting()
        let future = Self.deployment("z", .ready, at: .max / 4)
        #expect(setting.take(future, at: Self.now + 1) == ["started z", "ready z"])
        #expect(
            setting.take(Self.deployment("a", .ready, at: 2), at: Self.now + 2)
                == ["started a", "ready a"])
    }

    @Test func `the state is bounded, however many deployments are listed`() {
        var setting = Setting()
        let many = (1...3_000).map { Self.deployment("d\($0)", .building, at: Int64($0)) }
        #expect(setting.watcher.take(many, chosen: setting.chosen, now: Self.now).count == 3_000)
        #expect(setting.watcher.settle() == 2_500)
        #expect(setting.watcher.entryCount == DeploymentWatcher.entryLimit)
        // Forgotten ones are not taken for new.
        #expect(setting.watcher.take(many, chosen: setting.chosen, now: Self.now).isEmpty)
    }
}
