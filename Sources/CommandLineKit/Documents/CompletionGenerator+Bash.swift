extension CompletionGenerator {
    /// Returns the script for bash 4.4 or newer. It works without the bash-completion package, and
    /// uses it, if loaded, to complete other commands.
    func bashScript() -> String {
        """
        # bash completion for \(program.name)

        \(sharedTables())# Offers the words that start with the typed text, without expansion.
        \(function)_offer() {
            local typed=$1 word
            shift
            for word; do
                [[ $word == "$typed"* ]] || continue
                # A name may contain shell syntax.
                printf -v word %q "$word"
                COMPREPLY+=("$before$word")
            done
        }

        \(function)_complete() {
            local typed=$1 before=$2
            if [[ $list && $typed == *,* ]]; then
                before=$before${typed%,*},
                typed=${typed##*,}
            fi
            case $kind in
            file)
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -P "$before" -- "$typed") ;;
            directory)
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -d -P "$before" -- "$typed") ;;
            words\\ *)
                local -a offered
                read -ra offered <<< "${kind#words }"
                \(function)_offer "$typed" "${offered[@]}" ;;
            ask\\ *)
                local -a answers
                mapfile -t answers < <(
                    "$program" "${passed[@]}" __complete "${kind#ask }" -- "$typed" 2>/dev/null)
                if [[ ${COMP_TYPE-} == 63 && $kind == *" deployment"* && ${#answers[@]} -gt 1 ]]; then
                    # Listed, not inserted: show what the ids are.
                    COMPREPLY=("${answers[@]/$'\\t'/  }")
                else
                    \(function)_offer "$typed" "${answers[@]%%$'\\t'*}"
                fi ;;
            command)
                mapfile -t COMPREPLY < <(compgen -c -- "$typed") ;;
            esac
            # A comma may follow an item of a list.
            [[ $list ]] && compopt -o nospace
            return 0
        }

        \(function)() {
            local program=$1 path= kind= list= word option joined= dashes= pending= before=
            local -a words=() passed=() followers=() options=()
            local -i index count=0 letter
            [[ $program == '~/'* ]] && program=$HOME/${program:2}
            COMPREPLY=()
            # Bash splits words at "="; join them again.
            for ((index = 1; index <= COMP_CWORD; index++)); do
                word=${COMP_WORDS[index]}
                if [[ $word == = && ${#words[@]} -gt 0 && ${words[-1]} == --* && ! $joined ]]; then
                    words[-1]+== joined=1
                elif [[ $joined ]]; then
                    words[-1]+=$word joined=
                else
                    words+=("$word")
                fi
            done
            local typed=${words[-1]}
            unset 'words[-1]'
            for ((index = 0; index < ${#words[@]}; index++)); do
                word=${words[index]}
                if [[ $pending ]]; then
                    \(function)_pass "$pending" "$word"
                    pending=
                elif [[ $dashes ]]; then
                    count+=1
                elif [[ $word == -- ]]; then
                    dashes=$index count=0
                elif [[ $word == --*=* ]]; then
                    \(function)_pass "${word%%=*}" "${word#*=}"
                elif [[ $word == --* ]]; then
                    \(function)_value "$path" "$word"
                    [[ $kind ]] && pending=$word
                elif [[ $word == -?* ]]; then
                    for ((letter = 1; letter < ${#word}; letter++)); do
                        option=-${word:letter:1}
                        \(function)_value "$path" "$option"
                        [[ $kind ]] || continue
                        if ((letter + 1 < ${#word})); then
                            \(function)_pass "$option" "${word:letter + 1}"
                        else
                            pending=$option
                        fi
                        break
                    done
                else
                    \(function)_followers "$path"
                    if ((count == 0)) && [[ " ${followers[*]} " == *" $word "* ]]; then
                        path=${path:+$path }$word
                    else
                        count+=1
                    fi
                fi
            done
            if [[ $pending ]]; then
                \(function)_value "$path" "$pending"
                \(function)_complete "$typed" ""
            elif [[ ! $dashes && $typed == --*=* ]]; then
                \(function)_value "$path" "${typed%%=*}"
                # If bash splits words at "=", only the text after it is replaced.
                [[ $COMP_WORDBREAKS == *=* ]] || before=${typed%%=*}=
                \(function)_complete "${typed#*=}" "$before"
            elif [[ ! $dashes && $typed == -* ]]; then
                \(function)_options "$path"
                \(function)_offer "$typed" "${options[@]}"
            else
                if [[ $dashes ]]; then
                    \(function)_argument "$path" rest
                    if [[ $kind == command ]]; then
                        \(function)_command
                        return
                    fi
                elif ((count == 0)); then
                    \(function)_followers "${path#help}"
                    \(function)_offer "$typed" "${followers[@]}"
                fi
                \(function)_argument "$path" "$count"
                \(function)_complete "$typed" ""
            fi
        }

        # Records an option that affects which words the program offers.
        \(function)_pass() {
            case $1 in
            \(passedPatterns)) passed+=("$1" "$2") ;;
            esac
        }

        # Completes the command to run and its arguments.
        \(function)_command() {
            local -i start=1
            while [[ ${COMP_WORDS[start]} != -- ]]; do start+=1; done
            start+=1
            if declare -F _command_offset > /dev/null; then
                _command_offset "$start"
            elif ((start == COMP_CWORD)); then
                mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
            else
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
            fi
        }

        complete -F \(function) \(program.name)

        """
    }

    /// The passed options as patterns of a `case`.
    var passedPatterns: String {
        let options = program.globalOptions.filter { passedOptions.contains($0.name) }
        let spellings = options.flatMap(Self.spellings)
        // A pattern that no option matches.
        return spellings.isEmpty ? "''" : spellings.joined(separator: "|")
    }
}
