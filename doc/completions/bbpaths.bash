# SPDX-License-Identifier: Apache-2.0
# Completion of bbpaths(1) for bash. In: the words so far. Out: COMPREPLY. Options are those of the
# program's own --help; where nothing is found, bash completes file names.

_bbpaths() {
    local program=${1/#\~/$HOME} cur=$2 option=$3 words=
    COMPREPLY=()
    # --option=value comes as three words.
    [[ $cur == = ]] && cur=
    [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    --algo) words='nesting' ;;
    --assign) words='paper' ;;
    -f | --format) words='dot json text svg png pdf' ;;
    --sort) words='total count mean' ;;
    --latency) words='first-byte last-byte' ;;
    -n | --top) words='all' ;;
    *)
        [[ $cur == -* ]] || return 0
        words=$("$program" --help 2>/dev/null |
            sed -n 's/^  \(-[[:alnum:]], \)\{0,1\}\(--[a-z-]*\).*/\2/p')
        words+=$'\n--help'
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o bashdefault -o default -F _bbpaths bbpaths
