/// Programs of the desktop that zg-env asks where there is a screen.
enum DesktopChecks {
    static func findings(_ context: Context) -> [Finding] {
        let hasScreen = ["DISPLAY", "WAYLAND_DISPLAY"].contains { context.variable($0) != nil }
        let search = ExecutableSearch(path: context.variable("PATH"))
        var clipboard: Result<ClipboardProgram, CommandError>
        do {
            clipboard = .success(try ClipboardProgram.found(context))
        } catch {
            clipboard = .failure(CommandError(mapping: error))
        }
        return [
            pinentry(hasScreen: hasScreen, isThere: search.find("pinentry") != nil),
            self.clipboard(hasScreen: hasScreen, clipboard),
        ]
    }

    static func pinentry(hasScreen: Bool, isThere: Bool) -> Finding {
        guard hasScreen else {
            return Finding("pinentry", .skipped, "There is no screen to ask for a passphrase on.")
        }
        return isThere
            ? Finding("pinentry", .ok, "pinentry asks for a passphrase where there is no terminal.")
            : Finding(
                "pinentry", .warning,
                "There is no pinentry to ask for a passphrase where there is no terminal.",
                remedy: "Install pinentry-gnome3, pinentry-qt or pinentry-gtk2.")
    }

    static func clipboard(
        hasScreen: Bool, _ program: Result<ClipboardProgram, CommandError>
    ) -> Finding {
        switch program {
        case .success(let program):
            return Finding(
                "clipboard", .ok, "reveal --copy reaches the clipboard with \(program.rawValue).")
        case .failure(let error):
            return Finding(
                "clipboard", hasScreen ? .warning : .skipped, error.message,
                remedy: hasScreen ? error.hint : nil)
        }
    }
}
