package e2e

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
)

// wire forwards between servers and PostgreSQL and records what each connection of a server sends: its settings and its
// statements. It changes nothing.
type wire struct {
	// URL is the address of the database through the wire.
	URL string

	network, address string
	listener         net.Listener
	running          sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	sockets  []net.Conn
	recorded []*wireConn
	counted  wireCounts
}

// wireCounts counts what servers have sent, except signals and the settings of connections: how many signals are sent
// together, and how many connections are opened, depends on timing.
type wireCounts struct {
	// trips is how often a connection waited for PostgreSQL.
	trips        int
	statements   int
	transactions int
}

// wireConn is what one connection has sent. The wire's lock protects it while the connection is open.
type wireConn struct {
	// settings are the connection's settings by name, from its start-up message and from SET.
	settings map[string]string
	// statements are all that it has sent, in order, each once.
	statements []*wireStatement

	// named are the prepared statements by name.
	named map[string]*wireStatement

	// bound is the statement that is executed next, batch what is counted when the client waits for the answer, and open
	// whether a transaction is open.
	bound *wireStatement
	batch wireCounts
	open  bool
	// setting reports whether the last simple query only changed settings.
	setting bool
}

// wireStatement is a statement and the values of its first execution.
type wireStatement struct {
	sql     string
	types   []uint32
	bound   bool
	formats []int16
	values  [][]byte
}

// newWire returns a wire that records the connections to a database.
func newWire(t testing.TB, database string) *wire {
	t.Helper()

	config, err := pgx.ParseConfig(database)
	require.NoError(t, err)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	// A machine that starts dozens of processes can stop one of ours for longer than the product's limit of idle transactions, and
	// a repeated transaction repeats LLM calls, for which these tests have no replies.
	limits := url.Values{
		"sslmode": {"disable"}, "connect_timeout": {strconv.Itoa(int(config.ConnectTimeout.Seconds()))},
		"idle_in_transaction_session_timeout": {strconv.FormatInt(slowness.Scale(30*time.Second).Milliseconds(), 10)},
	}
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: limits.Encode(),
	}

	w := &wire{URL: through.String(), listener: listener}
	w.network, w.address = pgconn.NetworkAddress(config.Host, config.Port)
	w.running.Go(w.accept)
	t.Cleanup(w.close)

	return w
}

func (w *wire) close() {
	_ = w.listener.Close()

	w.mu.Lock()
	w.closed = true

	for _, socket := range w.sockets {
		_ = socket.Close()
	}
	w.mu.Unlock()

	w.running.Wait()
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}

		server, err := net.Dial(w.network, w.address)
		if err != nil || !w.keep(client, server) {
			_ = client.Close()

			continue
		}

		w.running.Go(func() {
			defer server.Close()

			w.record(bufio.NewReader(client), server)
		})
		w.running.Go(func() {
			defer client.Close()

			_, _ = io.Copy(client, server)
		})
	}
}

// keep registers sockets to close at the end, and reports whether the wire is still open.
func (w *wire) keep(sockets ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.sockets = append(w.sockets, sockets...)

	return !w.closed
}

// record forwards what a client sends until it disconnects. It records a message before it forwards it: a client that has
// an answer finds its statement.
func (w *wire) record(r *bufio.Reader, server io.Writer) {
	// A start-up message begins with its length and a version; names and values follow. A request to cancel a statement has
	// a code instead of the version.
	const cancelRequest, head = 80877102, 8

	startup, err := readMessage(r, 0)
	if err != nil || len(startup) < head {
		return
	}

	if binary.BigEndian.Uint32(startup[4:]) == cancelRequest {
		_, _ = server.Write(startup)

		return
	}

	c := &wireConn{settings: map[string]string{}, named: map[string]*wireStatement{}}

	fields := strings.Split(strings.TrimRight(string(startup[head:]), "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		c.settings[fields[i]] = fields[i+1]
	}

	w.mu.Lock()
	w.recorded = append(w.recorded, c)
	w.mu.Unlock()

	for message := startup; ; {
		if _, err := server.Write(message); err != nil {
			return
		}

		if message, err = readMessage(r, 1); err != nil {
			return
		}

		w.mu.Lock()
		c.note(message[0], message[5:])
		w.counted.add(c.count(message[0]))
		w.mu.Unlock()
	}
}

// readMessage reads a message of the protocol. Its length follows its type, which start-up messages do not have, and includes itself.
func readMessage(r *bufio.Reader, typeBytes int) ([]byte, error) {
	const lengthBytes = 4

	begin, err := r.Peek(typeBytes + lengthBytes)
	if err != nil {
		return nil, err
	}

	message := make([]byte, typeBytes+int(binary.BigEndian.Uint32(begin[typeBytes:])))
	_, err = io.ReadFull(r, message)

	return message, err
}

// note records a message.
func (c *wireConn) note(kind byte, body []byte) {
	switch kind {
	case 'P':
		var parse pgproto3.Parse
		if parse.Decode(body) == nil {
			c.named[parse.Name] = c.statement(parse.Query, parse.ParameterOIDs)
		}
	case 'Q':
		var query pgproto3.Query
		if query.Decode(body) == nil {
			c.noteSimple(query.String)
		}
	case 'B':
		var bind pgproto3.Bind
		if bind.Decode(body) == nil {
			c.bound = c.named[bind.PreparedStatement]
			c.bound.bind(bind)
		}
	}
}

// count returns what a message adds to the counts: if the client waits for the answer, everything since the last such message.
func (c *wireConn) count(kind byte) wireCounts {
	const signal = "SELECT pg_notify("

	switch kind {
	case 'P': // without an Execute, it only prepares
		c.batch.trips = 1

		return wireCounts{}
	case 'E':
		if c.bound != nil && !strings.HasPrefix(c.bound.sql, signal) {
			c.batch.trips = 1
			c.batch.statements++
		}

		return wireCounts{}
	case 'Q':
		if c.setting {
			return wireCounts{}
		}

		c.batch.trips = 1
		c.batch.statements++
	case 'S':
	default:
		return wireCounts{}
	}

	if c.batch.statements > 0 && !c.open {
		c.batch.transactions = 1
	}

	counted := c.batch
	c.batch = wireCounts{}

	return counted
}

func (c *wireCounts) add(other wireCounts) {
	c.trips += other.trips
	c.statements += other.statements
	c.transactions += other.transactions
}

// counts returns what was sent so far.
func (w *wire) counts() wireCounts {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.counted
}

var setPattern = regexp.MustCompile(`(?i)^SET\s+(?:SESSION\s+)?(\w+)\s*(?:=|TO)\s*'?([^']*)'?$`)

// noteSimple records a simple query, which may be several statements. Only settings are sent that way: the product's other
// simple queries are one statement each.
func (c *wireConn) noteSimple(sql string) {
	c.setting = true

	for part := range strings.SplitSeq(sql, ";") {
		if set := setPattern.FindStringSubmatch(strings.TrimSpace(part)); set != nil {
			c.settings[strings.ToLower(set[1])] = set[2]
		} else if strings.TrimSpace(part) != "" {
			c.setting = false
		}
	}

	switch strings.ToLower(sql) {
	case "begin":
		c.open = true
	case "commit", "rollback":
		c.open = false
	}

	c.statement(sql, nil).bound = true
}

func (c *wireConn) statement(sql string, types []uint32) *wireStatement {
	i := slices.IndexFunc(c.statements, func(s *wireStatement) bool { return s.sql == sql && slices.Equal(s.types, types) })
	if i >= 0 {
		return c.statements[i]
	}

	s := &wireStatement{sql: sql, types: slices.Clone(types)}
	c.statements = append(c.statements, s)

	return s
}

// bind keeps the values of the first execution.
func (s *wireStatement) bind(bind pgproto3.Bind) {
	if s == nil || s.bound {
		return
	}

	s.bound, s.formats, s.values = true, bind.ParameterFormatCodes, bind.Parameters
}

// seen reports whether any connection has sent a statement that contains a text, with white space as one space.
func (w *wire) seen(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.ContainsFunc(w.recorded, func(c *wireConn) bool {
		return slices.ContainsFunc(c.statements, func(s *wireStatement) bool { return strings.Contains(oneLine(s.sql), text) })
	})
}

// connections returns the recorded connections in the order in which they were opened. Their servers must have stopped.
func (w *wire) connections() []*wireConn {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.recorded)
}
