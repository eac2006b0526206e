// Package fakemodel is a model server that answers from a test's script.
//
// The real client connects to it through ANTHROPIC_BASE_URL. It runs the tools that the
// script calls, fires its hooks and sends back the results. The server keeps every
// request, so that a test can check what the model was told, and when.
//
// Other agents connect to it too: it also speaks OpenAI's Chat Completions and Responses and
// the Gemini API, as far as these agents need them, and reads all of them into a Request.
//
// It looks at a request only to tell the conversations of one run apart (see Kind). It
// implements the part of the Messages API that the client needs, on 127.0.0.1 and
// without TLS. It does not start the client: see package realclient.
package fakemodel
