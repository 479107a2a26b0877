#!/usr/bin/env bash
# Format, lint, types and tests of the checker, and of the generator of pairs that it is measured with, by pinned tools in a private environment that is made once.
set -euo pipefail
cd "$(dirname "$0")"
revision=$(cat requirements-dev.txt ../../engine/requirements.txt | sha256sum | cut -c1-12)
environment="${XDG_CACHE_HOME:-$HOME/.cache}/reckon/checker-tools-$revision"
if [ ! -e "$environment/ready" ]; then
	python3 -m venv --clear "$environment"
	for list in requirements-dev.txt ../../engine/requirements.txt; do
		"$environment/bin/pip" install --quiet --no-input --disable-pip-version-check --require-hashes --only-binary :all: --no-deps -r "$list"
	done
	touch "$environment/ready"
fi
export PYTHONDONTWRITEBYTECODE=1 RUFF_NO_CACHE=true
generator=../../../test/verification/generator
"$environment/bin/ruff" format --check reckon_checker tests "$generator"
"$environment/bin/ruff" check reckon_checker tests "$generator"
"$environment/bin/mypy" --cache-dir "$environment/mypy"
(cd "$generator" && "$environment/bin/mypy" --cache-dir "$environment/mypy-generator" .)
"$environment/bin/python" -m pytest "$@"
