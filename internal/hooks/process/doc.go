// Package process runs the process of a hook. It writes standard input, collects up to
// MaxStream bytes of each output, and enforces a time limit.
//
// When the time limit expires, the process group gets SIGTERM, and SIGKILL five seconds
// later. A process that was started in the background keeps running if the hook itself exits
// in time.
//
// The package does not interpret exit codes and outputs: see package dialect.
package process
