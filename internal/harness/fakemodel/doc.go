// Package fakemodel is a model server that says what a test scripted.
//
// The real client is pointed at it (ANTHROPIC_BASE_URL) and behaves as it does
// with a model behind it: it runs the tools that the script calls, fires its
// hooks and sends back what they said. The server keeps every request, so a
// test can ask what the model was told, and when.
//
// # What it is not
//
// It is no model: it never looks at a prompt to decide what to say, but for
// telling the conversations of one run apart (see Kind). It speaks as much of
// the Messages API as the client needs, on 127.0.0.1 and without TLS, and it
// knows nothing about how the client is started.
package fakemodel
