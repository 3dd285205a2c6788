/// Checks for desktop programs that zg-env uses where there is a display.
enum DesktopChecks {
    static func findings(_ context: Context) -> [Finding] {
        let hasScreen = context.hasDisplay
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
            return Finding("pinentry", .skipped, "There is no display for a passphrase prompt.")
        }
        return isThere
            ? Finding("pinentry", .ok, "pinentry can ask for a passphrase without a terminal.")
            : Finding(
                "pinentry", .warning,
                "pinentry is not installed, so zg-env cannot ask for a passphrase without a terminal.",
                remedy: "Install pinentry-gnome3, pinentry-qt or pinentry-gtk2.")
    }

    static func clipboard(
        hasScreen: Bool, _ program: Result<ClipboardProgram, CommandError>
    ) -> Finding {
        switch program {
        case .success(let program):
            return Finding(
                "clipboard", .ok, "reveal --copy uses \(program.rawValue) for the clipboard.")
        case .failure(let error):
            return Finding(
                "clipboard", hasScreen ? .warning : .skipped, error.message,
                remedy: hasScreen ? error.hint : nil)
        }
    }
}
