# Sourced by .ci/steps/windows.sh and other_targets.sh: builds for other targets, and runs the tests of Windows under Wine; on Windows itself,
# with its own toolchain. Needs root on Debian or Ubuntu, for a folder with the compiler of Debian's unstable suite: Debian also packs the
# sources of the standard library, and that of wasm32, so rustup's libraries are not needed.
#
# The folder is $WINDOWS_ROOT, /var/tmp/windows-root if unset; it takes 3 GB and some five minutes, once. All mounts are in a mount
# namespace of their own, so that nothing stays mounted.
sid=${WINDOWS_ROOT:-/var/tmp/windows-root}
windows_target=$CARGO_TARGET_DIR/windows
work=${work:?set by .ci/lib.bash}
# Ready object files of aws-lc, so that nobody needs its assembler.
export AWS_LC_SYS_PREBUILT_NASM=1
is_windows=
[[ $(uname -s) != MINGW* && $(uname -s) != MSYS* ]] || is_windows=yes

# Makes the folder, unless it is complete.
sid_tools() {
    if [[ $(id -u) != 0 ]]; then
        if sudo -n true 2>/dev/null; then exec sudo -n env "PATH=$PATH" "HOME=$HOME" "CARGO_TARGET_DIR=$CARGO_TARGET_DIR" "$0"; fi
        printf 'neither root nor sudo, to make a folder with another compiler: other targets were NOT checked\n'
        exit 0
    fi
    [[ ! -f $sid/complete ]] || return 0
    command -v debootstrap >/dev/null || debian --no-install-recommends debootstrap
    rm -rf --one-file-system "$sid"
    local packages=ca-certificates,rustc,cargo,rust-src,libstd-rust-dev-wasm32,lld,gcc-mingw-w64-x86-64,gcc,libc6-dev
    quietly debootstrap --variant=minbase "--include=$packages" sid "$sid" http://deb.debian.org/debian
    touch "$sid/complete"
}

# sid_cargo TARGET_FOLDER ARGUMENT..: runs cargo in the folder, in which the checkout and the target folder have the same paths.
sid_cargo() {
    local target=$1
    shift
    mkdir -p "$sid$PWD" "$sid$target" "$target"
    # This machine's names and certificates: a proxy may sign with its own.
    cp /etc/resolv.conf /etc/hosts "$sid/etc/"
    local certificates=/etc/ssl/certs/ca-certificates.crt
    [[ ! -f $certificates ]] || cp "$certificates" "$sid$certificates"
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -euc '
        sid=$1 checkout=$2 target=$3
        shift 3
        mount --bind /proc "$sid/proc"
        mount --rbind /dev "$sid/dev"
        mount --bind "$checkout" "$sid$checkout"
        mount --bind "$target" "$sid$target"
        exec chroot "$sid" /usr/bin/env -C "$checkout" "CARGO_TARGET_DIR=$target" PATH=/usr/bin:/bin CARGO_HOME=/cargo HOME=/root \
            SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt RUSTC_BOOTSTRAP=1 cargo "$@"' - "$sid" "$PWD" "$target" "$@"
}

# Installs Wine and the C compiler, and makes the folder.
windows_tools() {
    [[ -z $is_windows ]] || return 0
    sid_tools
    local program
    for program in /usr/lib/wine/wine64 x86_64-w64-mingw32-gcc; do
        command -v "$program" >/dev/null || debian --no-install-recommends wine wine64 gcc-mingw-w64-x86-64
    done
}

# windows_cargo COMMAND ARGUMENT..: cargo for Windows, which also builds the standard library.
windows_cargo() {
    if [[ -n $is_windows ]]; then
        cargo "$@"
        return
    fi
    local command=$1
    shift
    sid_cargo "$windows_target" "$command" -Zbuild-std=std,panic_unwind,test --target x86_64-pc-windows-gnu "$@"
}

# Builds the tests, and the examples that they run, with one set of packages and features, so that cargo builds the libraries once.
windows_build() {
    local set=(--quiet --locked -p envd-sdk -p envd-sync -p envd-postgres -p envd-codegen -p processes -p apps
        --features "$more,loopback-https,sqlite,conformance")
    local tests=(--lib --test suite --test processes --test apps)
    windows_cargo test "${set[@]}" "${tests[@]}" --no-run --message-format=json-render-diagnostics >"$work/built.json"
    windows_cargo build "${set[@]}" --examples
    [[ -n $is_windows ]] || wine_setup
}

# Rust's standard library needs a function that Wine 8 lacks, so a DLL with it stands beside the programs.
wine_setup() {
    export WINEPREFIX=$windows_target/prefix WINEDEBUG=-all RUST_BACKTRACE=0
    export WINEDLLOVERRIDES='mscoree,mshtml='
    local debug=$windows_target/x86_64-pc-windows-gnu/debug
    printf '%s\n' '#include <windows.h>' 'BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);' \
        '__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) {' \
        '    while (n) { ULONG k = n > 65536 ? 65536 : (ULONG)n; if (!SystemFunction036(p, k)) return FALSE; p += k; n -= k; }' \
        '    return TRUE;' '}' >"$work/prng.c"
    mkdir -p "$debug/deps" "$debug/examples"
    x86_64-w64-mingw32-gcc -shared -O1 -o "$debug/deps/bcryptprimitives.dll" "$work/prng.c" -ladvapi32
    cp "$debug/deps/bcryptprimitives.dll" "$debug"
    cp "$debug/deps/bcryptprimitives.dll" "$debug/examples"
    quietly windows_run wineboot.exe --init
    # The share `\\localhost\C$`, which Windows has for administrators.
    mkdir -p "$WINEPREFIX/dosdevices/unc/localhost"
    ln -sfn ../../../drive_c "$WINEPREFIX/dosdevices/unc/localhost/c\$"
}

# windows_run PROGRAM ARGUMENT..: under Wine, or directly on Windows.
windows_run() {
    if [[ -n $is_windows ]]; then
        "$@"
    else
        /usr/lib/wine/wine64 "$@"
    fi
}

# The binary of the tests in a source file, such as tests/suite/main.rs.
windows_binary() {
    local top=$PWD
    [[ -z $is_windows ]] || top=$(cygpath -m "$PWD")
    sed -n 's/.*"src_path":"\([^"]*\)".*"executable":"\([^"]*\)".*/\1 \2/p' "$work/built.json" | sed 's/\\\\/\//g' \
        | sed -n "s|^$top/$1 ||p"
}

# The rows of the table, and the number of tests of the list that were found.
windows_rows=()
windows_skipped=0
windows_failed=

# The entries of the list that hold here: source|test|reason.
windows_skips() {
    sed -e '/^#/d' -e 's/ *| */|/g' .ci/windows_skips.txt | while IFS='|' read -r where rest; do
        [[ -n $is_windows && $where == wine ]] || printf '%s\n' "$rest"
    done
}

# windows_tests NAME SOURCE ARGUMENT..: runs the tests of a binary, except those of the list, and adds a row to the table.
windows_tests() {
    local name=$1 source=$2 binary from=$SECONDS skips=() of test reason
    shift 2
    binary=$(windows_binary "$source")
    [[ -f $binary ]] || fail "no tests of $source were built"
    windows_run "$binary" --list "$@" 2>/dev/null | tr -d '\r' | sed -n 's/: test$//p' >"$work/names"
    while IFS='|' read -r of test reason; do
        if [[ $of == "$source" ]] && grep -qxF "$test" "$work/names"; then
            skips+=(--skip "$test")
            printf 'skipped, %s: %s\n' "$test" "$reason"
        fi
    done < <(windows_skips)
    windows_run "$binary" --quiet "$@" "${skips[@]}" >"$work/out" 2>&1 || true
    local result passed=0 failed=- ignored=0 skipped=$((${#skips[@]} / 2))
    result=$(tr -d '\r' <"$work/out" | sed -n 's/^test result: .* \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored.*/\1 \2 \3/p')
    [[ -z $result ]] || read -r passed failed ignored <<<"$result"
    windows_skipped=$((windows_skipped + skipped))
    # Tests that stand in no result would be skipped silently.
    if [[ $failed != 0 || $((passed + ignored + skipped)) != $(wc -l <"$work/names") ]]; then
        windows_failed=yes
        cat "$work/out"
    fi
    windows_rows+=("$(printf '%-34s %6s %6s %7s %7s' "$name" "$passed" "$failed" $((skipped + ignored)) $((SECONDS - from)))")
    printf -- '-- %s: %s passed\n' "$name" "$passed"
}

windows_table() {
    printf '\n%-34s %6s %6s %7s %7s\n' '' passed failed skipped seconds
    printf '%s\n' "${windows_rows[@]}"
    [[ -z $windows_failed ]] || fail "some tests failed or have no result"
    [[ $windows_skipped == $(windows_skips | wc -l) ]] || fail "the list of skipped tests names some that do not exist"
}
