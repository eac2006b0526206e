#!/bin/sh
# Strips trailing white space from the file that was written.
file=$(sed -n 's/.*"file_path":"\([^"]*\)".*/\1/p')
[ -f "$file" ] || exit 0
sed 's/[[:space:]]*$//' "$file" >"$file.formatted"
if cmp -s "$file" "$file.formatted"; then
	rm "$file.formatted"
	exit 0
fi
mv "$file.formatted" "$file"
printf '{"suppressOutput": true, "hookSpecificOutput": {"hookEventName": "PostToolUse",'
printf ' "additionalContext": "formatted %s; read it again before you edit it"}}\n' "${file##*/}"
