/// The release that this source tree is, for `--version`, manual pages and packages.
package enum Release {
    package static let version = "0.9.0"
    /// As manual pages show it.
    package static let date = "November 26, 2026"
}
