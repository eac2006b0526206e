#!/bin/sh
# Refuses shell commands that cannot be undone.
input=$(cat)
refuse() {
	echo "$1" >&2
	exit 2
}
case $input in
*'"command":'*'rm -rf /'*) refuse "not a recursive delete from the root: name the directory" ;;
*'"command":'*'git push'*'--force'*) refuse "no forced push: ask the user to do it" ;;
*'"command":'*'| sh'* | *'"command":'*'| bash'*) refuse "download first and read it, then run it" ;;
esac
