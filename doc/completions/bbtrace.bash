# SPDX-License-Identifier: Apache-2.0
# Completion of bbtrace(1) for bash. In: the words so far. Out: COMPREPLY. Commands and options are
# those of the program's own --help; where nothing is found, bash completes file names.

_bbtrace_interfaces() {
    local path
    for path in /sys/class/net/*; do
        printf '%s\n' "${path##*/}"
    done
    echo any
}

_bbtrace_options() {
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(-[[:alnum:]], \)\{0,1\}\(--[a-z-]*\).*/\2/p'
    echo --help
}

_bbtrace() {
    local program=${1/#\~/$HOME} command=${COMP_WORDS[1]} cur=$2 option=$3 words=
    COMPREPLY=()
    # --option=value comes as three words.
    [[ $cur == = ]] && cur=
    [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}
    if ((COMP_CWORD == 1)); then
        words=$("$program" --help 2>/dev/null |
            sed -n -e 's/^  \([a-z][a-z]*\)  .*/\1/p' -e 's/^  \(--[a-z]*\).*/\1/p')
    else
        case $command,$option in
        capture,-i | capture,--interface | doctor,-i | doctor,--interface) words=$(_bbtrace_interfaces) ;;
        capture,--node) words='host endpoint' ;;
        capture,--labels | anonymize,--labels) words='keep hash off' ;;
        capture,--time-stamp-type) words='host host_lowprec host_hiprec adapter adapter_unsynced' ;;
        capture,--sync) words='never file flush' ;;
        import,--from) words='text received jaeger zipkin otlp jsonl csv chrome zeek events' ;;
        clocks,-f | clocks,--format) words='text json svg' ;;
        export,-t | export,--to) words='text jsonl csv sqlite' ;;
        merge,--clocks) words='correct report as-is' ;;
        merge,--join) words='keys order none' ;;
        merge,--observers) words='file folder' ;;
        capture,--nat | merge,--nat) words='hint join off' ;;
        capture,--names-by | merge,--names-by) words='instance service' ;;
        mirror,--from | mirror,--to) words=$(_bbtrace_interfaces | sed '$d') ;;
        mirror,-d | mirror,--direction) words='ingress egress both' ;;
        mirror,--vendor) words='arista aws azure cisco-ios cisco-nxos juniper linux ovs' ;;
        mirror,--classifier) words='auto matchall u32' ;;
        generate,--connections) words='none pool held threads' ;;
        mirror,mirror)
            words='add del show plan'
            [[ $cur != -* ]] || words=$(_bbtrace_options "$program" "$command")
            ;;
        generate,generate)
            if [[ $cur == -* ]]; then
                words=$(_bbtrace_options "$program" "$command")
            else
                words=$("$program" generate --list 2>/dev/null | cut -d ' ' -f 1)
            fi
            ;;
        *)
            [[ $cur == -* ]] || return 0
            words=$(_bbtrace_options "$program" "$command")
            ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o bashdefault -o default -F _bbtrace bbtrace
