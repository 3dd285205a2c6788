internal import SystemFiles

/// Recognizes folders that a program copies between machines.
enum SynchronizedFolder {
    /// Files and folders that such programs put at the top of what they copy.
    private static let marks: [(name: String, program: String)] = [
        (".stfolder", "Syncthing"), (".dropbox", "Dropbox"), (".dropbox.cache", "Dropbox"),
        (".owncloudsync.log", "ownCloud"), (".nextcloudsync.log", "Nextcloud"),
        (".SyncTrash", "Resilio Sync"), (".sync", "Resilio Sync"), (".seafile-data", "Seafile"),
        (".tmp.drivedownload", "Google Drive"), (".tmp.driveupload", "Google Drive"),
        (".odopen", "OneDrive"), (".megaignore", "MEGA"), (".debris", "MEGA"),
        (".insync-trash", "Insync"),
        (".pcloud", "pCloud"), (".unison", "Unison"),
    ]

    /// Folders that such programs create in the user's home.
    private static let names: [(prefix: String, program: String)] = [
        ("dropbox", "Dropbox"), ("onedrive", "OneDrive"), ("google drive", "Google Drive"),
        ("googledrive", "Google Drive"), ("my drive", "Google Drive"), ("nextcloud", "Nextcloud"),
        ("owncloud", "ownCloud"), ("seafile", "Seafile"), ("pclouddrive", "pCloud"),
        ("icloud", "iCloud"), ("mega", "MEGA"), ("syncthing", "Syncthing"), ("insync", "Insync"),
        ("sync", "a synchronization program"),
    ]

    /// Returns the program that copies a folder, or nil.
    static func program(for path: String) -> String? {
        let parts = path.split(separator: "/")
        for count in stride(from: parts.count, through: 1, by: -1) {
            let folder = "/" + parts[..<count].joined(separator: "/")
            for mark in marks
            where (try? FileFacts("\(folder)/\(mark.name)", followsLinks: false)) != nil {
                return mark.program
            }
            // The databases of Nextcloud and ownCloud have random names.
            let databases = [".sync_", "._sync_"]
            for name in Directory.names(in: folder)
            where databases.contains(where: { name.hasPrefix($0) }) && name.contains(".db") {
                return "Nextcloud"
            }
            let own = parts[count - 1].lowercased()
            for name in names {
                // "OneDrive - Company" and "Dropbox (Personal)" are usual; "megaproject" is not one.
                guard own.hasPrefix(name.prefix) else { continue }
                let next = own.dropFirst(name.prefix.count).first
                if next == nil || next == " " || next == "-" || next == "(" { return name.program }
            }
        }
        return nil
    }
}
