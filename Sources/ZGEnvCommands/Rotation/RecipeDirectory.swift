internal import SystemFiles

/// Where the scripts for `rotate` are.
enum RecipeDirectory {
    /// The directory that was installed with this program, or where an installation and the sources
    /// have it.
    static var location: String {
        let prefix = RealPath.of("/proc/self/exe").flatMap(RealPath.above).flatMap(RealPath.above)
        if let prefix {
            let installed = (prefix == "/" ? "" : prefix) + "/share/zg-env/recipes"
            if FileKind.isDirectory(installed) { return installed }
        }
        return
            "docs/recipes in the sources or, once zg-env is installed, in share/zg-env/recipes "
            + "under the installation prefix"
    }
}
