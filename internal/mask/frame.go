package mask

// mostOpen is how deep objects can be nested; a deeper text is not a manifest.
const mostOpen = 256

// frame is an open object or list.
type frame struct {
	manifest

	list bool
	key  string
	// state is what can come next.
	state state
	// owner is the index of the frame whose data this is part of, or -1.
	owner int
}

type state int

const (
	wantKey state = iota
	wantColon
	wantValue
	wantComma
)

// top returns the innermost open frame.
func (b *braced) top() *frame { return &b.open[len(b.open)-1] }

// push opens an object or a list. Everything under data, at any depth, belongs to the object that has the data.
func (b *braced) push(list bool) {
	opened := frame{list: list, owner: -1}

	if list {
		opened.state = wantValue
	}

	if len(b.open) > 0 {
		top := b.top()
		opened.owner = top.owner

		if !top.list && isDataKey(top.key) && top.owner < 0 {
			opened.owner = len(b.open) - 1
		}

		top.state = wantComma
	}

	b.open = append(b.open, opened)
	b.at++
}

// pop closes the innermost frame. An object without a kind passes its values to the list that contains it: the kind may be the list's.
func (b *braced) pop() {
	closed := *b.top()
	b.open = b.open[:len(b.open)-1]
	b.spans = append(b.spans, closed.secrets()...)

	if len(b.open) == 0 {
		return
	}

	switch top := b.top(); {
	case closed.list && top.key == "items":
		top.items = append(top.items, closed.items...)
	case !closed.list && closed.kind == "" && top.list:
		top.items = append(top.items, closed.values...)
	}
}

// giveUp closes all frames: the outermost may be a Secret that was cut off.
func (b *braced) giveUp() {
	for len(b.open) > 0 {
		b.pop()
	}
}
