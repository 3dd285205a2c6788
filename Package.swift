// swift-tools-version: 6.3

import PackageDescription

/// The settings of every target, tests included.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

/// For targets whose loops the tests run millions of times, which would take most of the tests'
/// time without optimization.
let busySettings: [SwiftSetting] =
    settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// For targets that mostly wait: half a megabyte less to install. Optimized in debug builds too,
/// because the tests start the programs thousands of times.
let smallSettings: [SwiftSetting] =
    settings + [
        .unsafeFlags(["-Osize"], .when(configuration: .release)),
        .unsafeFlags(["-O"], .when(configuration: .debug)),
    ]

/// Nothing links against the programs, so their symbols are not exported: less to install, and a
/// faster start. Packed relocations save a megabyte and need glibc 2.36; GNU gold does not support
/// them, so the toolchain's linker is used.
let programLinking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=safe",
            "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "-O2",
            "-Xlinker", "--as-needed", "-Xclang-linker", "-static-libgcc",
        ],
        .when(configuration: .release))
]

/// The tests start `zg-env` some fourteen thousand times, in little more than half the time without
/// Swift's shared libraries. `make setup-tests` puts the static libstdc++ into the directory, which a
/// debug build with Foundation needs. Instrumented programs are linked dynamically, because libraries
/// that are opened later must see the sanitizer.
let quickStart: [LinkerSetting] =
    Context.environment["ZG_INSTRUMENTED"] == "1"
    ? []
    : [
        .unsafeFlags(
            [
                "-static-stdlib", "-use-ld=lld", "-Xlinker", "--no-export-dynamic",
                "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                "-Xclang-linker", "-L\(Context.packageDirectory)/.build/static",
                "-Xclang-linker", "-no-pie",
                "-Xclang-linker", "-static-libgcc",
            ],
            .when(configuration: .debug))
    ]

/// The Debian package of the relay brings its own libnats.
let packagedLibraries: [LinkerSetting] = [
    .unsafeFlags(
        ["-Xlinker", "-rpath", "-Xlinker", "$ORIGIN/../lib/zg-env-postal"],
        .when(configuration: .release))
]

/// Where distributions put the headers of libsecret and GLib. Their pkg-config files would also
/// link the libraries to every executable, but `zg-env` opens libsecret and GIO at first use.
let libsecretHeaders: [String] = [
    "/usr/include/libsecret-1",
    "/usr/include/glib-2.0",
    "/usr/lib/x86_64-linux-gnu/glib-2.0/include",
    "/usr/lib/aarch64-linux-gnu/glib-2.0/include",
    "/usr/lib64/glib-2.0/include",
    "/usr/lib/glib-2.0/include",
].map { "-I\($0)" }

let package = Package(
    name: "zg-env",
    products: [
        .executable(name: "zg-env", targets: ["zg-env"]),
        .executable(name: "zg-env-sandbox", targets: ["zg-env-sandbox"]),
        .executable(name: "zg-env-postal", targets: ["zg-env-postal"]),
    ],
    targets: [
        // C libraries.
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(name: "CSecret", cSettings: [.unsafeFlags(libsecretHeaders)]),
        .target(name: "CNotifications", cSettings: [.unsafeFlags(libsecretHeaders)]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CGnuTLS", pkgConfig: "gnutls", providers: [.apt(["libgnutls28-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        // Opens libpcre2 at first use: few commands match a pattern.
        .target(name: "CPCRE2"),
        // Opens libzxcvbn at first use, if it is installed.
        .target(name: "CZxcvbn"),
        .target(
            name: "CTOML", cxxSettings: [.unsafeFlags(["-std=c++17", "-fno-rtti"])]),
        .target(name: "CLinux"),

        // Libraries, lowest layer first.
        .target(name: "Release", swiftSettings: settings),
        .target(name: "Threads", swiftSettings: settings),
        .target(name: "SystemFiles", dependencies: ["CLinux"], swiftSettings: busySettings),
        .target(name: "JSON", dependencies: ["SystemFiles"], swiftSettings: smallSettings),
        .target(
            name: "Sealing", dependencies: ["CLinux", "CSodium", "Threads"],
            swiftSettings: busySettings),
        .target(
            name: "Vault", dependencies: ["Sealing", "CLinux", "SystemFiles", "Threads"],
            swiftSettings: busySettings),
        .target(
            name: "SecretServiceKeyring",
            dependencies: ["Vault", "Sealing", "CSecret", "SystemFiles", "Threads"],
            swiftSettings: smallSettings),
        .target(
            name: "KernelKeyring", dependencies: ["Vault", "Sealing", "CLinux", "SystemFiles"],
            swiftSettings: settings),
        .target(
            name: "DesktopNotifications", dependencies: ["CNotifications"],
            swiftSettings: smallSettings),
        .target(
            name: "Groups", dependencies: ["Sealing", "SystemFiles", "Vault"],
            swiftSettings: busySettings),
        .target(
            name: "GroupPlaces", dependencies: ["CLinux", "Groups", "SystemFiles", "Vault"],
            swiftSettings: busySettings),
        .target(
            name: "SharedProjects", dependencies: ["GroupPlaces", "Groups", "Sealing", "Vault"],
            swiftSettings: busySettings),
        .target(
            name: "DotEnv", dependencies: ["JSON", "SystemFiles"], swiftSettings: busySettings),
        .target(
            name: "Searching", dependencies: ["CLinux", "Sealing", "SystemFiles"],
            swiftSettings: busySettings),
        .target(
            name: "HTTPClient", dependencies: ["Sealing"], swiftSettings: smallSettings),
        .target(
            name: "VercelAPI",
            dependencies: ["HTTPClient", "JSON", "Sealing", "Searching", "SystemFiles"],
            swiftSettings: smallSettings),
        .target(
            name: "CurlTransport", dependencies: ["HTTPClient", "Sealing", "CCurl"],
            swiftSettings: smallSettings),
        .target(
            name: "EnvSchema", dependencies: ["CPCRE2", "CTOML", "DotEnv", "JSON", "SystemFiles"],
            swiftSettings: busySettings),
        // Imports nothing: a plan depends on nothing but what it is given.
        .target(name: "SyncPlan", swiftSettings: busySettings),
        .target(
            name: "EnvOperations",
            dependencies: [
                "CommandLineKit", "DotEnv", "EnvSchema", "HTTPClient", "JSON", "Sealing",
                "SyncPlan", "SystemFiles", "Vault", "VercelAPI",
            ], swiftSettings: busySettings),
        .target(
            name: "CommandLineKit", dependencies: ["CLinux", "JSON"], swiftSettings: smallSettings),
        .target(
            name: "WebhookSigning", dependencies: ["CGnuTLS", "SystemFiles"],
            swiftSettings: settings),
        .target(
            name: "PostalProtocol", dependencies: ["JSON", "Sealing"],
            swiftSettings: smallSettings),
        .target(
            name: "PostalDevice",
            dependencies: ["HTTPClient", "PostalProtocol", "Sealing", "Threads", "VercelAPI"],
            swiftSettings: smallSettings),
        .target(
            name: "Sandbox",
            dependencies: ["CMicroHTTPD", "JSON", "SystemFiles", "Threads", "WebhookSigning"],
            swiftSettings: busySettings),
        .target(
            name: "Postal",
            dependencies: [
                "CLinux", "CMicroHTTPD", "CNATS", "CSQLite", "CommandLineKit", "JSON",
                "PostalProtocol", "Release", "Sealing", "SystemFiles", "Threads",
                "WebhookSigning",
            ], swiftSettings: settings),
        .target(
            name: "ZGEnvCommands",
            dependencies: [
                "CLinux", "CZxcvbn", "CommandLineKit", "CurlTransport", "DesktopNotifications",
                "DotEnv", "EnvOperations", "EnvSchema", "GroupPlaces", "Groups", "HTTPClient",
                "JSON", "KernelKeyring", "PostalDevice", "PostalProtocol", "Release", "Sealing",
                "Searching", "SecretServiceKeyring", "SharedProjects", "SystemFiles", "Vault",
                "VercelAPI",
            ], swiftSettings: smallSettings),

        // Programs.
        .executableTarget(
            name: "zg-env", dependencies: ["ZGEnvCommands"], swiftSettings: settings,
            linkerSettings: programLinking + quickStart),
        .executableTarget(
            name: "zg-env-sandbox",
            dependencies: ["JSON", "Release", "Sandbox", "SystemFiles", "Threads"],
            swiftSettings: settings,
            linkerSettings: programLinking),

        .executableTarget(
            name: "zg-env-postal", dependencies: ["Postal"], swiftSettings: settings,
            linkerSettings: programLinking + quickStart + packagedLibraries),

        // Connects thousands of devices to a relay; tests use a few, `make postal-load` all.
        .executableTarget(
            name: "zg-env-postal-load", path: "Tests/Postal/load",
            linkerSettings: [
                .linkedLibrary("gnutls"), .linkedLibrary("sodium"), .linkedLibrary("sqlite3"),
            ]),

        // Publishes from a process of its own, which tests kill.
        .executableTarget(
            name: "zg-env-place-publisher", dependencies: ["GroupPlaces", "Groups", "Vault"],
            path: "Tests/Places/publisher", swiftSettings: settings),

        // TestSupport provides temporary homes, fakes and a runner of the built programs.
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport", dependencies: ["CTestSupport", "Sealing", "Threads", "Vault"],
            path: "Tests/TestSupport", exclude: ["http_backend.py"], swiftSettings: settings),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "DotEnv", "EnvSchema", "Groups", "JSON", "Postal", "PostalProtocol", "Sealing",
                "Vault",
            ], path: "Tests/Fuzzing/Targets", swiftSettings: settings),
        .testTarget(
            name: "SystemFilesTests", dependencies: ["SystemFiles", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SealingTests", dependencies: ["Sealing", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "VaultTests",
            dependencies: ["FuzzTargets", "Vault", "Sealing", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "GroupsTests",
            dependencies: ["Groups", "JSON", "Sealing", "SystemFiles", "TestSupport", "Vault"],
            swiftSettings: busySettings),
        .testTarget(
            name: "SharedProjectsTests",
            dependencies: [
                "GroupPlaces", "Groups", "Sealing", "SharedProjects", "TestSupport", "Vault",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GroupPlacesTests",
            dependencies: ["GroupPlaces", "Groups", "TestSupport", "Vault"],
            swiftSettings: settings),
        .testTarget(
            name: "SearchingTests", dependencies: ["Searching", "Sealing"],
            swiftSettings: settings),
        .testTarget(
            name: "EnvSchemaTests", dependencies: ["DotEnv", "EnvSchema", "JSON"],
            exclude: ["Cases"], swiftSettings: settings),
        .testTarget(
            name: "EnvOperationsTests",
            dependencies: ["EnvOperations", "Sealing", "TestSupport", "Vault", "VercelAPI"],
            swiftSettings: settings),
        .testTarget(
            name: "SyncPlanTests", dependencies: ["SyncPlan", "TestSupport"],
            swiftSettings: busySettings),
        .testTarget(
            name: "SecretServiceKeyringTests",
            dependencies: ["SecretServiceKeyring", "Vault", "Sealing", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "KernelKeyringTests",
            dependencies: [
                "CLinux", "CTestSupport", "KernelKeyring", "Vault", "Sealing", "TestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "DesktopNotificationsTests",
            dependencies: ["DesktopNotifications", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "DotEnvTests", dependencies: ["DotEnv", "FuzzTargets", "TestSupport"],
            exclude: ["Cases", "Generator", "Readers"], swiftSettings: settings),
        .testTarget(
            name: "JSONTests", dependencies: ["JSON"], exclude: ["Cases"], swiftSettings: settings),
        .testTarget(
            name: "VercelAPITests",
            dependencies: [
                "CurlTransport", "HTTPClient", "JSON", "Sandbox", "Sealing", "Searching",
                "TestSupport", "Threads", "VercelAPI",
            ], swiftSettings: settings),
        .testTarget(
            name: "PostalDeviceTests",
            dependencies: [
                "CurlTransport", "HTTPClient", "PostalDevice", "PostalProtocol", "Sealing",
                "TestSupport", "Threads",
            ], swiftSettings: settings),
        .testTarget(
            name: "CommandLineKitTests",
            dependencies: ["CLinux", "CommandLineKit", "JSON", "TestSupport"],
            exclude: ["Snapshots"], swiftSettings: settings),
        .testTarget(
            name: "WebhookSigningTests",
            dependencies: ["Sealing", "TestSupport", "WebhookSigning"],
            swiftSettings: settings),
        .testTarget(
            name: "PostalProtocolTests", dependencies: ["PostalProtocol"], swiftSettings: settings),
        .testTarget(
            name: "PostalTests",
            dependencies: [
                "CMicroHTTPD", "CTestSupport", "CommandLineKit", "FuzzTargets", "JSON", "Postal",
                "PostalProtocol", "Sealing", "TestSupport", "Threads", "WebhookSigning",
            ], swiftSettings: settings),
        .testTarget(
            name: "SandboxTests",
            dependencies: [
                "JSON", "Sandbox", "Sealing", "TestSupport", "Threads", "WebhookSigning",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "CommandLineKit", "CurlTransport", "EnvOperations", "HTTPClient", "JSON",
                "KernelKeyring", "PostalProtocol", "Sandbox", "Sealing",
                "SecretServiceKeyring", "TestSupport", "Threads", "Vault", "VercelAPI",
                "ZGEnvCommands",
            ], exclude: ["Watching/Screens"], swiftSettings: settings),
        .testTarget(
            name: "DemoTests", dependencies: ["TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["CommandLineKit", "JSON", "TestSupport", "ZGEnvCommands"],
            exclude: ["readme.sh"], swiftSettings: settings),
    ]
)

// The benchmark's program; `make bench` builds it.
if Context.environment["ZG_BENCH"] == "1" {
    package.targets += [
        .executableTarget(
            name: "zg-env-bench-reader", dependencies: ["DotEnv"], path: "Tests/Benchmark/Reader",
            swiftSettings: settings)
    ]
}

// Links libFuzzer, which `make fuzz` provides.
if Context.environment["ZG_FUZZ"] == "1" {
    package.targets += [
        .target(name: "CFuzzing", path: "Tests/Fuzzing/CFuzzing"),
        .executableTarget(
            name: "zg-env-fuzz", dependencies: ["CFuzzing", "FuzzTargets"],
            path: "Tests/Fuzzing/Driver", swiftSettings: settings,
            linkerSettings: [.linkedLibrary("stdc++")]),
    ]
}
