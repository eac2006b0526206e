#!/bin/sh
# Adds the project's notes to every prompt.
[ -s NOTES.md ] || exit 0
echo "Notes of this project:"
cat NOTES.md
