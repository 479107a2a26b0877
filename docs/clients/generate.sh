#!/usr/bin/env bash
# Writes the clients for Python and TypeScript into a folder: what the pinned generators make of docs/api/openapi.json, and the check of
# receipts. Needs Python with venv, and Node.js for the second. usage: generate.sh FOLDER [python] [typescript]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
to=$1
shift
mkdir -p "$to" && to=$(cd "$to" && pwd)
for language in ${*:-python typescript}; do
  rm -rf "${to:?}/$language"
  case $language in
  python)
    tools=$to/.python-tools
    [ -x "$tools/bin/openapi-python-client" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --requirement "$root/docs/clients/python/requirements.txt"; }
    "$tools/bin/openapi-python-client" generate --fail-on-warning --path "$root/docs/api/openapi.json" --config "$root/docs/clients/python/config.yaml" --meta setup --output-path "$to/python"
    cp "$root/docs/clients/python/README.md" "$to/python/"
    cp "$root/docs/verify.py" "$root/docs/clients/python/checked.py" "$root/docs/clients/python/reckon_magic.py" "$to/python/reckon/"
    sed -i 's/"attrs >= 22.2.0"/&, "cryptography >= 42"/' "$to/python/setup.py"
    ;;
  typescript)
    cp -R "$root/docs/clients/typescript" "$to/typescript"
    cd "$to/typescript"
    npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel error
    npx --no-install openapi-typescript "$root/docs/api/openapi.json" --output reckon.ts
    npx --no-install tsc
    ;;
  esac
done
