extension CompletionGenerator {
    /// Returns the script for zsh's completion system, which loads it from `_PROGRAM` in `fpath`, or
    /// which `source` registers.
    func zshScript() -> String {
        """
        #compdef \(program.name)

        \(sharedTables(describes: true))\(function)_complete() {
            [[ -n $list ]] && compset -P '*,'
            local -a suffix=()
            [[ -n $list ]] && suffix=(-q -S ,)
            case $kind in
            file) _files ;;
            directory) _directories ;;
            words\\ *) compadd "${suffix[@]}" -- ${(s: :)${kind#words }} ;;
            ask\\ *)
                local -a answers
                answers=("${(@f)$("$program" "${passed[@]}" __complete "${kind#ask }" -- "$PREFIX" \\
                    2>/dev/null)}")
                answers=("${(@)answers:#}")
                local -a shown=()
                if [[ $kind == *' deployment'* ]]; then
                    # Ids say nothing alone.
                    local -a lines=("${(@)answers/$'\\t'/  }")
                    shown=(-l -d lines)
                fi
                answers=("${(@)answers%%$'\\t'*}")
                compadd "${suffix[@]}" "${shown[@]}" -- "${answers[@]}" ;;
            command) _command_names -e ;;
            esac
        }

        # Records an option that affects which words the program offers.
        \(function)_pass() {
            case $1 in
            \(passedPatterns)) passed+=("$1" "${(Q)2}") ;;
            esac
        }

        \(function)() {
            emulate -L zsh
            local program=${(Q)words[1]} path_= kind= list= word option pending= dashes=
            local -a passed followers described options
            local -i index count=0 letter
            [[ $program == '~/'* ]] && program=$HOME/${program#??}
            for ((index = 2; index < CURRENT; index++)); do
                word=${words[index]}
                if [[ -n $pending ]]; then
                    \(function)_pass "$pending" "$word"
                    pending=
                elif [[ -n $dashes ]]; then
                    ((count += 1))
                elif [[ $word == -- ]]; then
                    dashes=$index count=0
                elif [[ $word == --*=* ]]; then
                    \(function)_pass "${word%%=*}" "${word#*=}"
                elif [[ $word == --* ]]; then
                    \(function)_value "$path_" "$word"
                    [[ -n $kind ]] && pending=$word
                elif [[ $word == -?* ]]; then
                    for ((letter = 2; letter <= ${#word}; letter++)); do
                        option=-${word[letter]}
                        \(function)_value "$path_" "$option"
                        [[ -n $kind ]] || continue
                        if ((letter < ${#word})); then
                            \(function)_pass "$option" "${word[letter + 1,-1]}"
                        else
                            pending=$option
                        fi
                        break
                    done
                else
                    \(function)_followers "$path_"
                    if ((count == 0)) && ((${followers[(Ie)$word]})); then
                        path_=${path_:+$path_ }$word
                    else
                        ((count += 1))
                    fi
                fi
            done
            word=${words[CURRENT]}
            if [[ -n $pending ]]; then
                \(function)_value "$path_" "$pending"
                \(function)_complete
            elif [[ -z $dashes && $word == --*=* ]]; then
                \(function)_value "$path_" "${word%%=*}"
                compset -P '--*='
                \(function)_complete
            elif [[ -z $dashes && $word == -* ]]; then
                \(function)_options "$path_"
                compadd -- "${options[@]}"
            elif [[ -n $dashes ]]; then
                \(function)_argument "$path_" rest
                if [[ $kind == command ]]; then
                    shift dashes words
                    ((CURRENT -= dashes))
                    _normal
                else
                    \(function)_argument "$path_" "$count"
                    \(function)_complete
                fi
            else
                if ((count == 0)); then
                    \(function)_followers "${path_#help}"
                    if ((${#followers})); then
                        # A function of the completion system needs the options of that.
                        setopt ${_comp_options[@]}
                        _describe -t commands command described
                        emulate -L zsh
                    fi
                fi
                \(function)_argument "$path_" "$count"
                \(function)_complete
            fi
        }

        if [[ ${zsh_eval_context[-1]} != (file|eval*) ]]; then
            # The file is the body of a function that the completion system calls.
            \(function) "$@"
        elif ((${+functions[compdef]})); then
            compdef \(function) \(program.name)
        else
            print -ru2 -- 'Completion of \(program.name) needs: autoload -Uz compinit && compinit'
        fi

        """
    }
}
