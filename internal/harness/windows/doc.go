// Package windows has what make windows runs: the tests of the programs on Windows, and a Windows to run them on where there is none.
package windows
