package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow/journal"
)

// Branch is a leaf of a flow. The package that implements it declares its ports and inputs when it constructs the branch; a
// branch does not change after [Build]. It belongs to one flow.
type Branch struct {
	name    string
	journal journal.Journal[Entry]
	ports   []*port
	inputs  []input
	ledger  *ledger // set by Build
}

// input is a daemon that belongs to the branch, such as the reader of a console.
type input struct {
	name string
	run  Run
}

// NewBranch returns a branch without ports whose entries are kept in memory.
func NewBranch(name string) *Branch {
	return &Branch{name: name, journal: journal.NewMemory[Entry](clockwork.NewRealClock())}
}

// Name returns the name of the branch, which is unique in its flow.
func (b *Branch) Name() string { return b.name }

// KeepIn makes the branch store its entries in a journal instead of in memory. Entries already in the journal are history: they
// can be read but are not handled again.
func (b *Branch) KeepIn(entries journal.Journal[Entry]) { b.journal = entries }

// Journal returns a reader of everything that the branch produced, consumed and logged.
func (b *Branch) Journal() journal.Reader[Entry] { return b.journal }

// Input adds a daemon that runs while the flow does: it waits for external input and sends it to the ports. The flow ends once
// the inputs of all branches have completed on their own.
func (b *Branch) Input(name string, run Run) {
	b.inputs = append(b.inputs, input{name: name, run: run})
}

// Pending records that something has arrived from outside that an input has not sent to a port yet. The flow is not idle until
// done is called, which must happen once, after the item was sent or dropped.
func (b *Branch) Pending() (done func()) {
	if b.ledger == nil {
		return func() {}
	}

	b.ledger.beginAppend()

	return func() { b.ledger.endAppend(b, 0) }
}

// direction is what the branch does with the entries of a port.
type direction int

const (
	produced direction = iota
	consumed
	logged
)

// port is one type of entry in the journal of a branch.
type port struct {
	branch    *Branch
	typeName  string
	direction direction
	// handle processes one entry; set only for ports that consume.
	handle func(context.Context, Entry) error
}

func (b *Branch) addPort(p *port) *port {
	p.branch = b
	b.ports = append(b.ports, p)

	return p
}

// Out is a port on which a branch produces entries of type A, or a view of one.
type Out[A any] struct {
	port *port
	read func(Entry) (A, error)
}

// Produces adds a port that produces entries of type A.
func Produces[A any](b *Branch) Out[A] {
	return Out[A]{port: b.addPort(&port{typeName: TypeName[A](), direction: produced}), read: As[A]}
}

// Send appends entries to the journal of the branch atomically. The route of the port carries them on. A view cannot send.
func (o Out[A]) Send(ctx context.Context, values ...A) error {
	if o.port.typeName != TypeName[A]() {
		return fmt.Errorf("%s is a view of %s, which only its branch produces", TypeName[A](), o.port.typeName)
	}

	return send(ctx, o.port.branch, values)
}

// In is a port on which a branch consumes entries of type B, or a view of one.
type In[B any] struct {
	port *port
	wrap func(B) (Entry, error)
}

// Consumes adds a port that consumes entries of type B. Entries are handled one at a time. An error fails the daemon of the
// port, so handle returns one only if the branch cannot continue.
func Consumes[B any](b *Branch, handle func(ctx context.Context, value B) error) In[B] {
	added := b.addPort(&port{
		typeName: TypeName[B](), direction: consumed,
		handle: func(ctx context.Context, entry Entry) error {
			value, err := As[B](entry)
			if err != nil {
				return err
			}

			return handle(ctx, value)
		},
	})

	return In[B]{port: added, wrap: func(value B) (Entry, error) { return NewEntry(value), nil }}
}

// Log records entries of type A that concern only the branch itself, such as the chunks of a streamed answer.
type Log[A any] struct{ port *port }

// Logs declares a type of entry that no rule applies to.
func Logs[A any](b *Branch) Log[A] {
	return Log[A]{port: b.addPort(&port{typeName: TypeName[A](), direction: logged})}
}

// Append appends entries to the journal of the branch atomically.
func (l Log[A]) Append(ctx context.Context, values ...A) error {
	return send(ctx, l.port.branch, values)
}

var errNotBuilt = errors.New("the branch is not part of a flow yet: call flow.Build first")

func send[A any](ctx context.Context, b *Branch, values []A) error {
	entries := make([]Entry, 0, len(values))
	for _, value := range values {
		entries = append(entries, NewEntry(value))
	}

	return b.append(ctx, entries)
}

func (b *Branch) append(ctx context.Context, entries []Entry) error {
	if b.ledger == nil {
		return errNotBuilt
	}

	b.ledger.beginAppend()
	position, err := b.journal.Append(ctx, entries...)
	b.ledger.endAppend(b, position)

	return err
}
