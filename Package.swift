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

/// Those of targets whose loops the tests run millions of times: without optimisation these take most of the
/// tests' time.
let busySettings: [SwiftSetting] =
    settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Those of targets that wait for people, programs or the network: half a megabyte less to install.
let smallSettings: [SwiftSetting] =
    settings + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// Nobody links against the programs, so their symbols need not be there by name: less to install,
/// and less for the dynamic linker to look through at each start. Relocations are packed, which takes
/// a megabyte less and glibc 2.36; GNU gold cannot, so the toolchain's own linker does it.
let programLinking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=safe",
            "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "-O2",
            "-Xlinker", "--as-needed", "-Xclang-linker", "-static-libgcc",
        ],
        .when(configuration: .release))
]

/// The tests start `zg-env` some fourteen thousand times, and without Swift's shared libraries each of
/// these takes little more than half the time. The directory holds libstdc++ in its static form, once `make
/// setup-tests` has made it. A debug build of what needs Foundation cannot do without,
/// and what instruments a program, as a sanitizer does, must be seen by the libraries that are opened later.
let quickStart: [LinkerSetting] =
    Context.environment["ZG_INSTRUMENTED"] == "1"
    ? []
    : [
        .unsafeFlags(
            [
                "-static-stdlib", "-use-ld=lld", "-Xlinker", "--no-export-dynamic",
                "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
                "-Xclang-linker", "-L\(Context.packageDirectory)/.build/static",
                "-Xclang-linker", "-static-libgcc",
            ],
            .when(configuration: .debug))
    ]

/// Where distributions put the headers of libsecret and GLib. Their pkg-config files would also add
/// the libraries to every executable, and `zg-env` opens libsecret and GIO at first use only.
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
        .target(name: "CLinux"),

        // What Foundation has too, at a quarter of the size of the whole program.
        .target(
            name: "JSON",
            swiftSettings: smallSettings + [.unsafeFlags(["-O"], .when(configuration: .debug))]),

        // Libraries, lowest layer first.
        .target(name: "Threads", swiftSettings: settings),
        .target(name: "SystemFiles", dependencies: ["CLinux"], swiftSettings: busySettings),
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
        .target(name: "DotEnv", swiftSettings: busySettings),
        .target(
            name: "Searching", dependencies: ["CLinux", "Sealing"], swiftSettings: settings),
        .target(
            name: "VercelAPI", dependencies: ["JSON", "Sealing", "Searching"],
            swiftSettings: smallSettings),
        .target(
            name: "CurlTransport", dependencies: ["VercelAPI", "Sealing", "CCurl"],
            swiftSettings: smallSettings),
        .target(
            name: "EnvOperations",
            dependencies: ["DotEnv", "JSON", "Sealing", "SystemFiles", "Vault", "VercelAPI"],
            swiftSettings: settings),
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
            dependencies: ["PostalProtocol", "Sealing", "Threads", "VercelAPI"],
            swiftSettings: smallSettings),
        .target(
            name: "Sandbox",
            dependencies: ["CMicroHTTPD", "JSON", "SystemFiles", "Threads", "WebhookSigning"],
            swiftSettings: busySettings),
        .target(
            name: "Postal",
            dependencies: [
                "CLinux", "CMicroHTTPD", "CNATS", "CSQLite", "CommandLineKit", "JSON",
                "PostalProtocol", "Sealing", "SystemFiles", "Threads", "WebhookSigning",
            ], swiftSettings: settings),
        .target(
            name: "ZGEnvCommands",
            dependencies: [
                "CLinux", "CommandLineKit", "CurlTransport", "DesktopNotifications", "DotEnv",
                "EnvOperations", "JSON", "KernelKeyring", "PostalDevice", "PostalProtocol",
                "Sealing", "Searching", "SecretServiceKeyring", "SystemFiles", "Vault",
                "VercelAPI",
            ], swiftSettings: smallSettings),

        // Programs.
        .executableTarget(
            name: "zg-env", dependencies: ["ZGEnvCommands"], swiftSettings: settings,
            linkerSettings: programLinking + quickStart),
        .executableTarget(
            name: "zg-env-sandbox", dependencies: ["Sandbox", "SystemFiles"],
            swiftSettings: settings,
            linkerSettings: programLinking),

        .executableTarget(
            name: "zg-env-postal", dependencies: ["Postal"], swiftSettings: settings,
            linkerSettings: programLinking + quickStart),

        // Connects thousands of devices to a relay; the tests run it with a few, `make postal-load` with
        // all.
        .executableTarget(
            name: "zg-env-postal-load", path: "Tests/Postal/load",
            linkerSettings: [
                .linkedLibrary("gnutls"), .linkedLibrary("sodium"), .linkedLibrary("sqlite3"),
            ]),

        // Tests. TestSupport holds temporary homes, fakes and the runner of the built programs.
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "TestSupport", dependencies: ["CTestSupport", "Sealing", "Threads", "Vault"],
            path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "FuzzTargets",
            dependencies: ["DotEnv", "JSON", "Postal", "PostalProtocol", "Sealing", "Vault"],
            path: "Tests/Fuzzing/Targets", swiftSettings: settings),
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
            name: "SearchingTests", dependencies: ["Searching", "Sealing"],
            swiftSettings: settings),
        .testTarget(
            name: "EnvOperationsTests",
            dependencies: ["EnvOperations", "Sealing", "TestSupport", "Vault", "VercelAPI"],
            swiftSettings: settings),
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
            name: "DotEnvTests", dependencies: ["DotEnv", "TestSupport"],
            exclude: ["Cases", "Generator", "Readers"], swiftSettings: settings),
        .testTarget(
            name: "JSONTests", dependencies: ["JSON"], exclude: ["Cases"], swiftSettings: settings),
        .testTarget(
            name: "VercelAPITests",
            dependencies: [
                "CurlTransport", "JSON", "Sandbox", "Sealing", "Searching", "TestSupport",
                "Threads", "VercelAPI",
            ], swiftSettings: settings),
        .testTarget(
            name: "PostalDeviceTests",
            dependencies: [
                "CurlTransport", "PostalDevice", "PostalProtocol", "Sealing", "TestSupport",
                "Threads", "VercelAPI",
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
                "CMicroHTTPD", "CTestSupport", "FuzzTargets", "JSON", "Postal", "PostalProtocol",
                "Sealing", "TestSupport", "Threads", "WebhookSigning",
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
                "CommandLineKit", "CurlTransport", "EnvOperations", "JSON", "KernelKeyring",
                "PostalProtocol", "Sandbox", "Sealing", "SecretServiceKeyring", "TestSupport",
                "Threads", "Vault", "ZGEnvCommands",
            ], swiftSettings: settings),
        .testTarget(
            name: "DemoTests", dependencies: ["TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: ["CommandLineKit", "JSON", "TestSupport", "ZGEnvCommands"],
            swiftSettings: settings),
    ]
)

// The benchmark's own program; `make bench` builds it.
if Context.environment["ZG_BENCH"] == "1" {
    package.targets += [
        .executableTarget(
            name: "zg-env-bench-reader", dependencies: ["DotEnv"], path: "Tests/Benchmark/Reader",
            swiftSettings: settings)
    ]
}

// The fuzzer's program links libFuzzer, which `make fuzz` names; nothing else needs it.
if Context.environment["ZG_FUZZ"] == "1" {
    package.targets += [
        .target(name: "CFuzzing", path: "Tests/Fuzzing/CFuzzing"),
        .executableTarget(
            name: "zg-env-fuzz", dependencies: ["CFuzzing", "FuzzTargets"],
            path: "Tests/Fuzzing/Driver", swiftSettings: settings,
            linkerSettings: [.linkedLibrary("stdc++")]),
    ]
}
