# SPDX-License-Identifier: Apache-2.0
# Completion of bbpaths(1) for bash. In: the words so far. Out: COMPREPLY. Options are those of the
# program's own --help; where nothing is found, bash completes file names.

_bbpaths() {
    local program=${1/#\~/$HOME} cur=$2 option=$3 command= words=
    COMPREPLY=()
    # The first word is a command, or the work is the main one.
    if ((COMP_CWORD > 1)); then
        case ${COMP_WORDS[1]} in
        blame | compare | report | score | show | tail) command=${COMP_WORDS[1]} ;;
        esac
    fi
    # --option=value comes as three words.
    [[ $cur == = ]] && cur=
    [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}
    case $command,$option in
    *,--algo) words='nesting convolution' ;;
    *,--explain) words='messages paper' ;;
    *,--assign) words='joint paper' ;;
    ,-f | ,--format) words='dot json folded text svg png pdf' ;;
    *,-f | *,--format) words='text json' ;;
    *,--instances-format) words='jsonl otlp chrome' ;;
    *,--sort) words='total count mean' ;;
    *,--latency) words='first-byte last-byte' ;;
    *,--window) words='auto whole' ;;
    *,--roles) words='auto none' ;;
    *,-n | *,--top) words='all' ;;
    *)
        if [[ $cur == -* ]]; then
            # shellcheck disable=SC2086 # no word where there is no command
            words=$("$program" $command --help 2>/dev/null |
                sed -n 's/^  \(-[[:alnum:]], \)\{0,1\}\(--[a-z-]*\).*/\2/p')
            words+=$'\n--help'
        elif ((COMP_CWORD == 1)); then
            words='blame compare report score show tail'
        fi
        ;;
    esac
    [[ $words ]] || return 0
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o bashdefault -o default -F _bbpaths bbpaths
