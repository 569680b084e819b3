#!/usr/bin/env bash
# Checks formatting, lock files, and the files of .ci.
source "$(dirname "${BASH_SOURCE[0]}")/../lib.bash"

apart=(benches/peers tests/downstream tests/validator-only)
git ls-files --error-unmatch Cargo.lock "${apart[@]/%//Cargo.lock}" >/dev/null
cargo fmt --all --check
for package in "${apart[@]}"; do
    cargo fmt --check --manifest-path "$package/Cargo.toml"
    # Their builds are long steps, which would find an old lock file late.
    cargo update --quiet --workspace --locked --manifest-path "$package/Cargo.toml"
done

for step in .ci/steps/*.sh; do
    [[ $(wc -l <"$step") -le 40 ]] || fail "more than 40 lines: $step"
    name=$(basename "$step" .sh)
    grep -qw "$name" .ci/run || fail ".ci/run does not name $name"
    grep -qw "$name" .github/workflows/ci.yml || fail "ci.yml does not name $name"
done
if command -v shellcheck >/dev/null; then shellcheck -x -P SCRIPTDIR .ci/run .ci/quick .ci/lib.bash .ci/steps/*.sh; fi
