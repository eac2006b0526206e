#!/bin/sh
# Does not let the agent stop while the project's tests fail. It tries once: a
# stop that a hook has already held up goes through.
if grep -q '"stop_hook_active":true' || [ ! -f run-tests.sh ]; then
	exit 0
fi
if ! report=$(sh run-tests.sh 2>&1); then
	printf 'the tests fail:\n%s\n' "$report" >&2
	exit 2
fi
