extension CompletionGenerator {
    /// Returns the script for fish 3.1 or newer, which parses options itself.
    func fishScript() -> String {
        """
        # fish completion for \(program.name)

        \(fishFunctions())
        complete -c \(program.name) -f

        \(fishWords())
        \(fishOptions())
        \(fishArguments())
        """
    }

    private func fishFunctions() -> String {
        let valueOptions = program.globalOptions + program.commands.flatMap(\.options)
        let spellings = Set(valueOptions.filter { !$0.isFlag }.flatMap(Self.spellings)).sorted()
        var text = "# Prints the words of the command typed so far, then the number of arguments.\n"
        text += "function _\(function)_path\n    set -l path\n    set -l count 0\n"
        text += "    set -l tokens (commandline -opc)\n    set -e tokens[1]\n    set -l skip 0\n"
        text += "    for token in $tokens\n"
        text +=
            "        if test $skip = 1\n            set skip 0\n            continue\n        end\n"
        text += "        switch $token\n            case --\n                break\n"
        text += "            case \(spellings.joined(separator: " "))\n                set skip 1\n"
        text += "            case '-*'\n                continue\n            case '*'\n"
        text += "                switch \"$path $token\"\n"
        let paths = followers.flatMap { path, words in
            words.map { Self.fishQuoted(" " + (path + [$0.word]).joined(separator: " ")) }
        }
        text += "                    case \(paths.joined(separator: " "))\n"
        text += "                        if test $count = 0\n"
        text += "                            set path \"$path $token\"\n"
        text += "                        else\n"
        text += "                            set count (math $count + 1)\n"
        text += "                        end\n                    case '*'\n"
        text += "                        set count (math $count + 1)\n"
        text += "                end\n        end\n    end\n"
        text += "    echo \"$path:$count\"\nend\n\n"
        text += "# Whether a command was typed, with any number of arguments.\n"
        text += "function _\(function)_is\n"
        text +=
            "    string match -q -- \" $argv[1]:*\" (string replace -r '^:' ' :' (_\(function)_path))\n"
        text += "end\n\n"
        text += "# Whether a command was typed, with this number of arguments.\n"
        text += "function _\(function)_at\n"
        text += "    string match -q -- \" $argv[1]:$argv[2]\""
        text += " (string replace -r '^:' ' :' (_\(function)_path))\nend\n\n"
        return text + fishAsk()
    }

    private func fishAsk() -> String {
        var text = "# Asks the program for words.\nfunction _\(function)_ask\n"
        text += "    set -l tokens (commandline -opc)\n    set -l program $tokens[1]\n"
        text += "    set -l passed\n    set -l pending\n    for token in $tokens[2..-1]\n"
        text += "        if test -n \"$pending\"\n            set -a passed $pending $token\n"
        text +=
            "            set pending\n            continue\n        end\n        switch $token\n"
        text += "            case --\n                break\n"
        let options = program.globalOptions.filter { passedOptions.contains($0.name) }
        if !options.isEmpty {
            let joined = options.map { Self.fishQuoted("\($0.dashedName)=*") }
            text += "            case \(joined.joined(separator: " "))\n"
            text += "                set -a passed $token\n"
            let spellings = options.flatMap(Self.spellings)
            text += "            case \(spellings.joined(separator: " "))\n"
            text += "                set pending $token\n"
        }
        text += "        end\n    end\n"
        text += "    set -l typed (string replace -r '^--[^=]*=' '' -- (commandline -ct))\n"
        text += "    set -l before (string match -r '^.*,' -- $typed)\n"
        text += "    set -l last (string replace -r '^.*,' '' -- $typed)\n"
        text += "    for word in ($program $passed __complete $argv[1] -- \"$last\" 2>/dev/null)\n"
        text += "        echo \"$before$word\"\n    end\nend\n"
        return text
    }

    private func condition(_ path: [String], count: Int? = nil) -> String {
        let name = path.joined(separator: " ")
        guard let count else { return Self.fishQuoted("_\(function)_is \"\(name)\"") }
        return Self.fishQuoted("_\(function)_at \"\(name)\" \(count)")
    }

    private func fishWords() -> String {
        var text = ""
        for (path, words) in followers {
            let help = path.isEmpty ? [(ArgumentScan.helpWord, "Show help")] : []
            for (word, summary) in words + help {
                text += "complete -c \(program.name) -n \(condition(path, count: 0)) -a \(word)"
                text += " -d \(Self.fishQuoted(summary))\n"
            }
        }
        return text
    }

    private func fishOptions() -> String {
        var text = ""
        for option in program.globalOptions where !option.isHidden {
            text += fishOption(option, condition: nil)
        }
        text += "complete -c \(program.name) -s h -l help -d 'Show help'\n"
        text += "complete -c \(program.name) -l help-all -d 'Show the full help'\n"
        for (path, command) in visibleCommands {
            for option in command.options where !option.isHidden {
                text += fishOption(option, condition: condition(path))
            }
        }
        return text
    }

    private func fishOption(_ option: OptionSpec, condition: String?) -> String {
        var text = "complete -c \(program.name)"
        if let condition { text += " -n \(condition)" }
        if let short = option.short { text += " -s \(short)" }
        text += " -l \(option.name)"
        if !option.isFlag { text += fishValue(option.completion, isOption: true) }
        return text + " -d \(Self.fishQuoted(option.summary))\n"
    }

    private func fishArguments() -> String {
        var text = ""
        for (path, command) in visibleCommands {
            for (index, argument) in command.arguments.enumerated() {
                let value = fishValue(argument.completion, isOption: false)
                guard !value.isEmpty else { continue }
                let isCounted = !argument.isVariadic && argument.arity != .restAfterDashes
                let condition = condition(path, count: isCounted ? index : nil)
                text += "complete -c \(program.name) -n \(condition)\(value)\n"
            }
        }
        return text
    }

    private func fishValue(_ completion: Completion, isOption: Bool) -> String {
        let exclusive = isOption ? " -x" : " -f"
        return switch completion {
        case .nothing: isOption ? " -x" : ""
        case .file: isOption ? " -r -F" : " -F"
        case .directory: "\(exclusive) -a '(__fish_complete_directories)'"
        case .words(let words): "\(exclusive) -a \(Self.fishQuoted(words.joined(separator: " ")))"
        case .dynamic(let kind): "\(exclusive) -a '(_\(function)_ask \(kind.rawValue))'"
        case .command: "\(exclusive) -a '(__fish_complete_subcommand)'"
        }
    }

    /// Returns a text in single quotes for fish, with backslash escapes.
    static func fishQuoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
