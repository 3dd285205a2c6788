import CommandLineKit
import EnvOperations
import Vault

@testable import ZGEnvCommands

/// The content of the screens in the documentation and in unit tests.
enum WatchExample {
    /// 2026-11-22T10:00:00Z.
    static let now: UInt64 = 1_795_341_600_000
    private static let minute: Int64 = 60_000

    static func row(
        _ id: String, _ state: String, minutesAgo: Int64, target: String = "production",
        branch: String = "main", message: String = ""
    ) -> WatchRow {
        var row = WatchRow(id: id)
        row.state = state
        row.isFinal = state != "BUILDING"
        row.isFailed = state == "ERROR"
        row.target = target
        row.branch = branch
        row.message = message
        row.createdAt = Int64(now) - minutesAgo * minute
        if state == "BUILDING" {
            row.buildingAt = row.createdAt + 5_000
        } else {
            row.buildMilliseconds = 42_000
        }
        row.site = "\(id.lowercased()).vercel.app"
        row.page = "https://vercel.com/acme/\(id)"
        return row
    }

    static func variable(
        _ name: String, _ scope: String, _ sync: SyncState, live: Bool?, number: UInt8
    ) -> WatchVariable {
        var targets: Scope.Targets = []
        for name in scope.split(separator: ", ") {
            targets.formUnion(Scope.Targets(name: String(name)) ?? [])
        }
        // Anything else is the name of a custom environment.
        return WatchVariable(
            id: Identifier([UInt8](repeating: number, count: 16)) ?? .random(), name: name,
            scope: Scope(
                targets: targets, customEnvironments: targets.isEmpty ? [scope] : []),
            kind: .encrypted, sync: sync, live: live)
    }

    static var projects: [WatchProject] {
        var web = WatchProject(id: "prj_web", name: "web", isLocal: true, current: "dpl_W1")
        web.rows = [
            row("dpl_W2", "BUILDING", minutesAgo: 1, message: "Show prices with tax"),
            row("dpl_W1", "READY", minutesAgo: 200, message: "Round at the end"),
            row(
                "dpl_W0", "READY", minutesAgo: 3_000, target: "preview", branch: "dark",
                message: "Try a darker page"),
        ]
        web.variables = [
            variable(
                "DATABASE_URL", "production, preview", .synced, live: true, number: 1),
            variable("STRIPE_KEY", "production", .ahead, live: false, number: 2),
        ]
        var shop = WatchProject(id: "prj_shop", name: "shop", isLocal: true, current: "dpl_S1")
        shop.rows = [
            row(
                "dpl_S2", "ERROR", minutesAgo: 12, target: "preview", branch: "cart-2",
                message: "Split the cart"),
            row("dpl_S1", "READY", minutesAgo: 1_500, message: "Cheaper shipping"),
        ]
        var docs = WatchProject(id: "prj_docs", name: "docs", current: "dpl_D1")
        docs.rows = [row("dpl_D1", "READY", minutesAgo: 9_000, message: "Spelling")]
        return [docs, shop, web]
    }

    static var model: WatchModel {
        var model = WatchModel()
        model.projects = projects
        model.askedAt = now - 180_000
        return model
    }

    static func lines(
        _ model: WatchModel, columns: Int = 80, rows: Int = 24, color: Bool = false
    ) -> [String] {
        WatchScreen(
            model: model, size: .init(columns: columns, rows: rows), now: now,
            style: Style(usesColor: color)
        ).lines()
    }
}
