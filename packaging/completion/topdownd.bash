# SPDX-License-Identifier: Apache-2.0
# bash completion for topdownd. Commands, options and their values come from `topdownd --help` and `topdownd COMMAND --help`,
# so nothing has to be changed here for a new one.

_topdownd_kinds() { # OPTION: the help names them, "auto: ..." line by line, or "arm, perf or perfmon"
    local line inside=
    while IFS= read -r line; do
        [[ $line == '  --'* ]] && inside=
        [[ $line == "  $1 "* ]] && inside=yes
        [[ -n $inside ]] || continue
        line=${line:22}
        if [[ $line =~ ^([a-z]+):\  || $line =~ ^([a-z]+:)[A-Z] || ${line% (*} =~ ^([a-z]+),\ ([a-z]+)\ or\ ([a-z]+)$ ]]; then
            echo "${BASH_REMATCH[@]:1}"
        fi
    done
}

_topdownd_brackets() { # OPTION: the help names them as in "the whole host (host), each socket too (socket)"
    sed -n "/^  $1 /,/^  --/p" | sed '1!{/^  --/d}' | grep -o '([a-z]*)' | tr -d '()'
}

_topdownd_values() { # PROGRAM COMMAND OPTION CURRENT: the values that the option can have
    local help argument rest
    help=$("$1" "$2" --help 2>/dev/null)
    read -r argument rest <<<"$(sed -n "s/^  ${3//./\\.} \([A-Z]\)/\1/p" <<<"$help")"
    [[ $3 == --host* ]] && return # a name that nobody here knows
    case $argument in
    FILE | PATH) compgen -f -- "$4" ;;
    DIR) compgen -d -- "$4" ;;
    NAME* | SPEC) compgen -W "$("$1" list cpus 2>/dev/null | sed '1d; s/ .*//')" -- "$4" ;;
    GROUP | GROUPS) compgen -W "$("$1" list groups 2>/dev/null | sed '1d; s/ .*//')" -- "$4" ;;
    WHAT) compgen -W "$(_topdownd_brackets "$3" <<<"$help")" -- "$4" ;;
    KIND) compgen -W "$(_topdownd_kinds "$3" <<<"$help")" -- "$4" ;;
    esac
}

_topdownd() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local help commands command='' word words='' i
    program=${program/#\~/$HOME}
    COMPREPLY=()
    help=$("$program" --help 2>/dev/null)
    commands=$(sed -n '/^Commands/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p' <<<"$help")
    for ((i = 1; i < COMP_CWORD && ${#command} == 0; i++)); do
        for word in $commands; do
            [[ ${COMP_WORDS[i]} == "$word" ]] && command=$word
        done
    done
    # bash makes words of their own of "=" and ":"
    if [[ $previous == : || $current == : ]]; then
        [[ $current == : ]] && current=
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
    fi
    if [[ $current == = || $previous == = ]]; then
        [[ $current == = ]] && current= && previous=${COMP_WORDS[COMP_CWORD - 1]} || previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $previous == --* && $current != --* ]]; then
        mapfile -t COMPREPLY < <(_topdownd_values "$program" "${command:-run}" "$previous" "$current")
        [[ ${#COMPREPLY[@]} -gt 0 ]] && return
    fi
    if [[ $current == -* ]]; then
        words=$("$program" "${command:-run}" --help 2>/dev/null | sed -n 's/^  \(--[a-z.]*\).*/\1/p')
    elif [[ -z $command ]]; then
        words=$commands
    elif [[ $previous == "$command" ]]; then # "list cpus|groups|metrics|events"
        words=$(sed -n "s/^  $command \([a-z|]*|[a-z|]*\).*/\1/p" <<<"$help")
        words=${words//|/ }
        [[ $command == help ]] && words=$commands
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -o filenames -o bashdefault -F _topdownd topdownd
