package postgres_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// cutPoint is when to cut a connection.
type cutPoint int

const (
	never cutPoint = iota
	// beforeCommit cuts when everything except COMMIT has reached the database.
	beforeCommit
	// withCommit cuts right after COMMIT was sent: its outcome is unknown.
	withCommit
	// afterCommit cuts when the database has answered COMMIT and the answer has not been delivered.
	afterCommit
	// delayedCommit cuts the server off while COMMIT is still in flight to the database, until deliver is called.
	delayedCommit
	// frozen withholds the whole pipeline that ends in COMMIT, and cuts nothing, until deliver is called.
	frozen
)

// cancelRequest begins the connection by which a client whose connection broke requests the end of its statement. Here such
// requests are lost with the connection: in the worst case the database continues.
const cancelRequest = 80877102

// proxy sits between servers and the database. It cuts the connection whose transaction has the marker.
type proxy struct {
	network, address string
	listener         net.Listener
	running          sync.WaitGroup

	mu     sync.Mutex
	cutAt  cutPoint
	marker []byte
	cut    int
	// silent means that the proxy vanishes after left more messages, on the first connection that sends another one.
	silent bool
	left   int
	conns  []net.Conn
	// away means that the database refuses connections; refused counts them.
	away    bool
	refused int
	// startups are the names of the parameters of each start-up message.
	startups [][]string

	// thawed is open while the database is silent; nil means that it never was.
	thawed chan struct{}

	delivery  chan struct{}
	delivered sync.Once
}

// freeze makes the database silent: whatever is sent to it arrives after thaw, even from connections closed in between.
func (p *proxy) freeze() (thaw func()) {
	p.mu.Lock()
	defer p.mu.Unlock()

	thawed := make(chan struct{})
	p.thawed = thawed

	return sync.OnceFunc(func() { close(thawed) })
}

// awaitThaw returns when the database is not silent.
func (p *proxy) awaitThaw() {
	p.mu.Lock()
	thawed := p.thawed
	p.mu.Unlock()

	if thawed != nil {
		<-thawed
	}
}

// interrupt makes the database unavailable: it ends all connections and refuses new ones until restore is called.
func (p *proxy) interrupt() (restore func()) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.away = true
	for _, c := range p.conns {
		_ = c.Close()
	}

	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()

		p.away = false
	}
}

// refuses reports whether the database is away, and counts the refused connection.
func (p *proxy) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.away {
		p.refused++
	}

	return p.away
}

func (p *proxy) refusals() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.refused
}

// newProxy returns a proxy, and the address of the database through it.
func newProxy(t *testing.T, f *fixture) (*proxy, string) {
	t.Helper()

	config, err := pgx.ParseConfig(f.URL)
	require.NoError(t, err)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	p := &proxy{network: network, address: address, listener: listener, delivery: make(chan struct{})}

	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()

		p.deliver()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()

		p.running.Wait()
	})

	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}

	return p, through.String()
}

// arm makes the proxy cut the next transaction that has the marker.
func (p *proxy) arm(at cutPoint, marker string) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.cutAt, p.marker = at, []byte(marker)
}

// vanishAfter lets n more messages pass and then nothing, and leaves all connections open: what a database sees of a server whose
// host vanished.
func (p *proxy) vanishAfter(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.silent, p.left = true, n
}

// vanishes counts a message and reports whether it must not pass.
func (p *proxy) vanishes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	if !p.silent {
		return false
	}

	if p.left > 0 {
		p.left--

		return false
	}

	p.cut++

	return true
}

// deliver lets a delayed COMMIT through.
func (p *proxy) deliver() { p.delivered.Do(func() { close(p.delivery) }) }

// fire returns when to cut a transaction that has the marker, and disarms the proxy.
func (p *proxy) fire() cutPoint {
	p.mu.Lock()
	defer p.mu.Unlock()

	at := p.cutAt
	p.cutAt = never

	if at != never {
		p.cut++
	}

	return at
}

func (p *proxy) cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.cut
}

func (p *proxy) carriesMarker(frame []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.cutAt != never && bytes.Contains(frame, p.marker)
}

func (p *proxy) startupMessages() [][]string {
	p.mu.Lock()
	defer p.mu.Unlock()

	return slices.Clone(p.startups)
}

// noteStartup records the parameter names of a start-up message; names and values alternate after length and version.
func (p *proxy) noteStartup(message []byte) {
	const head = 8

	var names []string

	fields := strings.Split(strings.TrimRight(string(message[head:]), "\x00"), "\x00")
	for i := 0; i < len(fields); i += 2 {
		names = append(names, fields[i])
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	p.startups = append(p.startups, names)
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}

		database, err := net.Dial(p.network, p.address)
		if err != nil || p.refuses() {
			if err == nil {
				_ = database.Close()
			}

			_ = client.Close()

			continue
		}

		p.mu.Lock()
		p.conns = append(p.conns, client, database)
		p.mu.Unlock()

		l := &link{proxy: p, client: client, database: database, answered: make(chan struct{}), statements: map[string]string{}}
		p.running.Go(l.forward)
		p.running.Go(l.back)
	}
}

// link is one connection through the proxy.
type link struct {
	proxy            *proxy
	client, database net.Conn
	statements       map[string]string

	mu       sync.Mutex
	withheld bool
	answered chan struct{}
}

// frame reads one message of the protocol, as bytes.
func frame(r *bufio.Reader, startup bool) ([]byte, error) {
	head := 5
	if startup {
		head = 4
	}

	// The length includes itself and what follows.
	begin, err := r.Peek(head)
	if err != nil {
		return nil, err
	}

	message := make([]byte, head-4+int(binary.BigEndian.Uint32(begin[head-4:])))
	_, err = io.ReadFull(r, message)

	return message, err
}

// forward passes messages to the database, those of a pipeline together, and detects COMMIT among them.
func (l *link) forward() {
	defer l.database.Close()

	var (
		r        = bufio.NewReader(l.client)
		startup  = true
		pipeline []byte // since the last Sync
		commit   = -1   // where COMMIT begins in it
	)

	for {
		message, err := frame(r, startup)
		if err != nil || (startup && binary.BigEndian.Uint32(message[4:]) == cancelRequest) {
			return
		}

		if startup {
			l.proxy.noteStartup(message)
		}

		if l.proxy.vanishes() {
			_, _ = l.database.Write(pipeline)

			<-l.proxy.delivery

			return
		}

		if !startup && l.commits(message) {
			commit = len(pipeline)
		}

		pipeline = append(pipeline, message...)

		// Only these messages leave a pipeline open.
		if !startup && strings.IndexByte("PBDEC", message[0]) >= 0 {
			continue
		}

		startup = false

		if commit >= 0 && l.proxy.carriesMarker(pipeline) {
			_ = l.finish(l.proxy.fire(), pipeline[:commit], pipeline[commit:])

			return
		}

		l.proxy.awaitThaw()

		if _, err := l.database.Write(pipeline); err != nil {
			return
		}

		pipeline, commit = pipeline[:0], -1
	}
}

// commits records the texts of prepared statements and reports whether the message binds COMMIT.
func (l *link) commits(message []byte) bool {
	first, rest, _ := bytes.Cut(message[5:], []byte{0})
	second, _, _ := bytes.Cut(rest, []byte{0})

	switch message[0] {
	case 'P':
		l.statements[string(first)] = string(second)
	case 'B':
		return l.statements[string(second)] == "COMMIT"
	}

	return false
}

// finish cuts the connection at the given point.
func (l *link) finish(at cutPoint, before, commit []byte) error {
	defer l.client.Close()

	if at == frozen {
		<-l.proxy.delivery

		return nil
	}

	if _, err := l.database.Write(before); err != nil || at == beforeCommit {
		return err
	}

	l.mu.Lock()
	l.withheld = true
	l.mu.Unlock()

	if at == delayedCommit {
		_ = l.client.Close()

		<-l.proxy.delivery
	}

	if _, err := l.database.Write(commit); err != nil {
		return err
	}

	if at != withCommit {
		<-l.answered
	}

	return nil
}

// back passes answers to the client, unless they are withheld.
func (l *link) back() {
	defer l.client.Close()

	var once sync.Once

	defer once.Do(func() { close(l.answered) })

	r := bufio.NewReader(l.database)

	for {
		message, err := frame(r, false)
		if err != nil {
			return
		}

		l.mu.Lock()
		withheld := l.withheld
		l.mu.Unlock()

		if withheld {
			if message[0] == 'Z' {
				once.Do(func() { close(l.answered) })
			}

			continue
		}

		if _, err := l.client.Write(message); err != nil && !errors.Is(err, net.ErrClosed) {
			return
		}
	}
}
