package fakemodel

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server answers the client from a script. Start one for each run.
type Server struct {
	http *http.Server
	url  string

	mu       sync.Mutex // guards what is below; a turn runs without it
	prompter *prompter
	record   Record
}

// Start listens on a free port of 127.0.0.1. Close ends it.
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

// URL is the server's address, without a slash at the end. It serves as a
// proxy too, one that lets nothing through: given to the client as
// HTTPS_PROXY, it shows what else the client wanted to reach.
func (m *Server) URL() string { return m.url }

// Close ends the server and every connection.
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
	case r.Method == http.MethodConnect || r.URL.IsAbs():
		m.outside(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		m.messages(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		send(w, "application/json", []byte(`{"input_tokens": 100}`))
	default:
		m.other(w, r)
	}
}

// outside refuses what would leave the machine.
func (m *Server) outside(w http.ResponseWriter, r *http.Request) {
	m.note(func(rec *Record) { rec.fault(fmt.Sprintf("the client wants to reach %s %s", r.Method, r.Host)) })
	http.Error(w, "the fake model lets nothing through", http.StatusForbidden)
}

// other gives a harmless answer to what the client asks beside the API.
func (m *Server) other(w http.ResponseWriter, r *http.Request) {
	m.note(func(rec *Record) { rec.others = append(rec.others, r.Method+" "+r.URL.Path) })
	send(w, "application/json", []byte(`{"data": []}`))
}

func (m *Server) messages(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req, err := parseRequest(body)
	if err != nil {
		m.refuse(w, &Exchange{Request: &Request{}}, fmt.Errorf("unreadable request: %w", err))
		return
	}
	x := &Exchange{Kind: kindOf(r.Header, req), Agent: r.Header.Get(agentHeader), Request: req}
	turn, n, err := m.take(x)
	if err != nil {
		m.refuse(w, x, err)
		return
	}
	said := turn(req)
	m.note(func(*Record) { x.Answer = said })
	m.reply(w, x, n)
}

// take records the exchange, before its turn runs and so even if that hangs.
// It returns the turn and the exchange's number.
func (m *Server) take(x *Exchange) (turn Turn, n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record.exchanges = append(m.record.exchanges, x)
	n = len(m.record.exchanges)
	if x.Kind == Compaction || x.Kind == Side {
		return Do(aside(x.Kind)...), n, nil
	}
	turn, err = m.prompter.next(x.Kind, x.Agent, x.Request)
	return turn, n, err
}

func (m *Server) reply(w http.ResponseWriter, x *Exchange, n int) {
	a := reply{id: fmt.Sprintf("msg_fake_%d", n), model: x.Request.Model, prefix: m.record.prefix, blocks: x.Answer}
	write, kind := a.whole, "application/json"
	if x.Request.Stream {
		write, kind = a.stream, "text/event-stream"
	}
	var body bytes.Buffer
	if err := write(&body); err != nil {
		m.refuse(w, x, err)
		return
	}
	send(w, kind, body.Bytes())
}

// refuse answers with an error. The client tries again a few times even so.
func (m *Server) refuse(w http.ResponseWriter, x *Exchange, why error) {
	m.note(func(rec *Record) {
		x.Refused = why.Error()
		rec.fault(why.Error())
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	io.WriteString(w, refusal(why))
}

func (m *Server) note(what func(*Record)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	what(&m.record)
}

func send(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Write(body)
}
