#!/usr/bin/env bash
# `cargo test` passes for any user: another user id, umasks, no HOME, a blank in TMPDIR, other languages, a read-only checkout.
# Needs root, to become that user.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

not_checked() {
    printf '%s: other users were NOT checked\n' "$*"
    exit 0
}
if [[ $(id -u) != 0 ]]; then
    sudo -n true 2>/dev/null || not_checked 'neither root nor sudo'
    exec sudo -n env "PATH=$PATH" "HOME=$HOME" "CARGO_TARGET_DIR=$CARGO_TARGET_DIR" "${BASH_SOURCE[0]}"
fi
binaries=$(cargo test --locked --no-run --tests --message-format=json 2>/dev/null | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | grep /deps/)
[[ $(wc -l <<<"$binaries") -ge 3 ]] || fail "the tests are not where cargo says: $binaries"
# as UMASK GROUP BINARY ARGUMENT..: runs as a user whose group id may differ from the user id.
as() {
    local umask=$1 group=$2 temporary
    shift 2
    temporary=$(mktemp -d "$work/other user.XXXX")
    chown "12345:$group" "$temporary"
    printf -- '-- umask %s, group %s: %s\n' "$umask" "$group" "$(basename "$1")"
    (umask "$umask" && cd / && quietly env -u HOME -u XDG_RUNTIME_DIR LANG=C LC_ALL=tr_TR.UTF-8 "TMPDIR=$temporary" \
        CARGO_NET_OFFLINE=true ENVD_SDK_TEST_SCHEDULES=10 setpriv --reuid=12345 "--regid=$group" --clear-groups -- "$@")
    [[ -z $(ls -A "$temporary") ]] || fail "left behind: $(ls -A "$temporary")"
}
chmod 755 "$work"
setpriv --reuid=12345 --regid=12345 --clear-groups -- test -r Cargo.toml -a -r "${binaries%%$'\n'*}" \
    || not_checked "another user cannot read $PWD and $CARGO_TARGET_DIR; chmod o+x the folders above"
for binary in $binaries; do
    # The first runs cargo, which needs HOME; the second reads neither files nor settings.
    [[ $(basename "$binary") != architecture-* && $(basename "$binary") != outbox_model-* ]] || continue
    mapfile -t left_out < <(without_pure_modules "$binary")
    as 0002 12346 "$binary" --quiet "${left_out[@]}"
done
for binary in $binaries; do
    [[ $(basename "$binary") == envd_s* ]] || continue
    for umask in 0022 0077; do as "$umask" 12345 "$binary" --quiet auth:: store:: loopback sqlite; done
done
