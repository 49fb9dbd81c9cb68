#compdef topdownd
# SPDX-License-Identifier: Apache-2.0
# zsh completion for topdownd. Commands, options and their values come from `topdownd --help` and `topdownd COMMAND --help`,
# so nothing has to be changed here for a new one.

_topdownd_column() { # what `topdownd list $1` shows in its first column
    local -a names
    names=(${${(f)"$($program list $1 2>/dev/null)"}[2,-1]%% *})
    compadd -a names
}

_topdownd_brackets() { # OPTION: the help names them as in "the whole host (host), each socket too (socket)"
    local -a kinds
    local line inside=
    for line in ${(f)"$($program $command --help 2>/dev/null)"}; do
        [[ $line == "  --"* ]] && inside=
        [[ $line == "  $1 "* ]] && inside=yes
        while [[ -n $inside && $line =~ '[(]([a-z]+)[)]' ]]; do
            kinds+=($match[1])
            line=${line#*"($match[1])"}
        done
    done
    compadd -a kinds
}

_topdownd_kinds() { # OPTION: the help names them, "auto: ..." line by line, or "arm, perf or perfmon"
    local -a kinds
    local line inside=
    for line in ${(f)"$($program $command --help 2>/dev/null)"}; do
        [[ $line == "  --"* ]] && inside=
        [[ $line == "  $1 "* ]] && inside=yes
        [[ -n $inside ]] || continue
        line=${line[23,-1]%% \(*}
        if [[ $line =~ '^([a-z]+): ' ]]; then
            kinds+=($match[1])
        elif [[ $line =~ '^([a-z]+:)[A-Z]' ]]; then
            kinds+=($match[1])
        elif [[ $line =~ '^([a-z]+), ([a-z]+) or ([a-z]+)$' ]]; then
            kinds+=($match)
        fi
    done
    if compset -P '(sim|replay):'; then
        _files
    else
        compadd -a kinds
    fi
}

_topdownd() {
    local program=${(Q)words[1]} command=run word line
    local -a verbs specs
    local -A words_of files_of
    program=${program/#\~/$HOME}
    for line in ${(f)"$($program --help 2>/dev/null)"}; do
        [[ $line =~ '^  ([a-z][a-z-]*) ' ]] && verbs+=($match[1])
        [[ $line =~ '^  ([a-z][a-z-]*) (.FILE|BEFORE)' ]] && files_of[$match[1]]=yes
        [[ $line =~ '^  ([a-z][a-z-]*) ([a-z]+[|][a-z|]+)' ]] && words_of[$match[1]]=${match[2]//|/ }
    done
    specs=('1: :compadd -a verbs')
    for word in ${words[2,CURRENT-1]}; do
        if (( ${verbs[(Ie)$word]} )); then
            command=$word
            specs=('1: :compadd -a verbs')
            (( ${+words_of[$command]} )) && specs+=("2: :($words_of[$command])")
            [[ $command == help ]] && specs+=('2: :compadd -a verbs')
            (( ${+files_of[$command]} )) && specs+=('*: :_files')
            break
        fi
    done
    for line in ${(f)"$($program $command --help 2>/dev/null)"}; do
        [[ $line =~ '^  (--[a-z.]+) ?([A-Z]*)[^ ]*( +(.*))?$' ]] || continue
        local option=$match[1] action=
        local about=${${match[4]//:/ }//[\[\]]/}
        case $match[2] in
        '') specs+=("${option}[$about]"); continue ;;
        FILE | PATH) action=_files ;;
        DIR) action='_files -/' ;;
        NAME | SPEC) [[ $option == --host* ]] && action=' ' || action=' _topdownd_column cpus' ;;
        GROUP | GROUPS) action=' _topdownd_column groups' ;;
        WHAT) action=" _topdownd_brackets $option" ;;
        KIND) action=" _topdownd_kinds $option" ;;
        *) action=' ' ;;
        esac
        specs+=("${option}=[$about]:${match[2]:l}:$action")
    done
    _arguments -S $specs
}

_topdownd "$@"
