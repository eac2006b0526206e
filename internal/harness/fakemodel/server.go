package fakemodel

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server answers the client from a script. Each run needs a new one.
type Server struct {
	http *http.Server
	url  string

	mu       sync.Mutex // guards the fields below; not held while a turn runs
	prompter *prompter
	record   Record
}

// Start starts a server on a free port of 127.0.0.1. The caller must call Close.
func Start(s Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the fake model: %w", err)
	}
	m := &Server{url: "http://" + l.Addr().String(), prompter: newPrompter(s)}
	m.record.prefix = "toolu_" + rand.Text() + "_"
	m.http = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go m.http.Serve(l)
	return m, nil
}

// URL returns the server's address without a trailing slash. As HTTPS_PROXY it is a
// proxy that refuses every request and records it as a fault.
func (m *Server) URL() string { return m.url }

// Close stops the server and closes its connections.
func (m *Server) Close() error { return m.http.Close() }

// Record returns what happened so far.
func (m *Server) Record() Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.record.clone()
	r.faults = append(r.faults, m.prompter.unused()...)
	return r
}

// ServeHTTP answers one request.
func (m *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect && "http://"+r.Host == m.url:
		m.tunnel(w)
	case r.Method == http.MethodConnect || r.URL.IsAbs():
		m.refuseProxy(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		send(w, jsonText, []byte(`{"input_tokens": 100}`))
	default:
		if form := wireOf(r); form != nil {
			m.ask(w, r, form)
			return
		}
		m.other(w, r)
	}
}

// tunnel connects a client with this server that uses its proxy for this machine too, in
// spite of NO_PROXY.
func (m *Server) tunnel(w http.ResponseWriter) {
	server, err := net.Dial("tcp", strings.TrimPrefix(m.url, "http://"))
	if err != nil {
		return // the server was closed
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		server.Close()
		return
	}
	io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		defer server.Close()
		io.Copy(server, buffered)
	}()
	defer client.Close()
	io.Copy(client, server)
}

// refuseProxy refuses requests to other machines.
func (m *Server) refuseProxy(w http.ResponseWriter, r *http.Request) {
	m.update(func(rec *Record) { rec.fault(fmt.Sprintf("the client tried to reach %s %s", r.Method, r.Host)) })
	http.Error(w, "the fake model is not a proxy", http.StatusForbidden)
}

// other gives a harmless answer to requests that are not for a model.
func (m *Server) other(w http.ResponseWriter, r *http.Request) {
	m.update(func(rec *Record) { rec.others = append(rec.others, r.Method+" "+r.URL.Path) })
	send(w, jsonText, []byte(`{"data": [], "models": []}`))
}

// ask answers one request for the model.
func (m *Server) ask(w http.ResponseWriter, r *http.Request, form *wire) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req, err := form.read(r.URL.Path, body)
	if err != nil {
		m.refuse(w, &Exchange{Request: &Request{}}, fmt.Errorf("unreadable request: %w", err))
		return
	}
	x := &Exchange{Kind: kindOf(r.Header, req), Agent: r.Header.Get(agentHeader), Request: req, Bytes: len(body)}
	turn, n, err := m.accept(x)
	if err != nil {
		m.refuse(w, x, err)
		return
	}
	answer := turn(req)
	m.update(func(*Record) { x.Answer = answer })
	m.reply(w, x, n, form)
}

// accept records the exchange and returns its turn and its number. It runs before the
// turn, so that the record is complete even if the turn hangs.
func (m *Server) accept(x *Exchange) (turn Turn, n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record.exchanges = append(m.record.exchanges, x)
	n = len(m.record.exchanges)
	if x.Kind == Compaction || x.Kind == Side {
		return Do(unscripted(x.Kind)...), n, nil
	}
	turn, err = m.prompter.next(x.Kind, x.Agent, x.Request)
	return turn, n, err
}

func (m *Server) reply(w http.ResponseWriter, x *Exchange, n int, form *wire) {
	a := reply{id: fmt.Sprintf("msg_fake_%d", n), model: x.Request.Model, prefix: m.record.prefix, blocks: x.Answer}
	var body bytes.Buffer
	kind, err := form.write(a, x.Request.Stream, &body)
	if err != nil {
		m.refuse(w, x, err)
		return
	}
	send(w, kind, body.Bytes())
}

// refuse answers with an error. The client retries a few times.
func (m *Server) refuse(w http.ResponseWriter, x *Exchange, why error) {
	m.update(func(rec *Record) {
		x.Refused = why.Error()
		rec.fault(why.Error())
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	io.WriteString(w, refusal(why))
}

func (m *Server) update(change func(*Record)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.record)
}

func send(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Write(body)
}
