#!/usr/bin/env bash
# `uv run [options] python ARGUMENTS` as the action calls it: the interpreter of the sandbox takes the place of uv's environment.
set -euo pipefail
[ "${1:-}" = run ] || { echo "uv (sandbox): only 'uv run' is known, not '${1:-}'" >&2; exit 2; }
shift
while [ "$#" -gt 0 ]; do
  case "$1" in
    --frozen | --no-dev | --quiet) shift ;;
    --project) shift 2 ;;
    python) shift; break ;;
    *) echo "uv (sandbox): '$1' is not known" >&2; exit 2 ;;
  esac
done
# act hands every job the one token of the run; here each job gets its own, with no more than its `permissions:` grant.
tokens="${CF_SANDBOX_TOKENS:-/nonexistent}"
pipe="${CF_TOKEN_FD:-}"
[ -z "$pipe" ] || GITHUB_TOKEN="$(cat <&"$pipe")"
if [ -s "$tokens/$GITHUB_JOB" ] && [ "${GITHUB_TOKEN:-}" = "$(< "$tokens/.run")" ]; then
  GITHUB_TOKEN="$(< "$tokens/$GITHUB_JOB")"
fi
if [ -n "$pipe" ]; then
  exec 9< <(printf '%s' "${GITHUB_TOKEN:-}")
  unset GITHUB_TOKEN
elif [ -n "${GITHUB_TOKEN:-}" ]; then
  export GITHUB_TOKEN
fi
# For a job that was cancelled act says `failure`, where GitHub says `cancelled`.
if [ -n "${CF_AGENT_RESULT:-}" ] && [ -s "${CF_SANDBOX_CANCELLED:-/nonexistent}" ]; then
  leg="$("$CF_SANDBOX_PYTHON" -I -c 'import json, os; print(json.loads(os.environ["CF_UNIT"])["name"])')"
  grep -qxF "$leg / agent" "$CF_SANDBOX_CANCELLED" && export CF_AGENT_RESULT=cancelled
  grep -qF "$leg / verify" "$CF_SANDBOX_CANCELLED" && export CF_VERIFY_RESULT=cancelled
fi
exec "$CF_SANDBOX_PYTHON" "$@"
