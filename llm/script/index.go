package script

// index finds the routes that may take a call without checking every one: a script can have thousands, most of them for one
// agent or one test. It is guarded by the script's lock.
type index struct {
	// by contains the routes that require something to equal a text, grouped by that something; any contains all others.
	by  []exactly
	any []*route
}

// exactly contains the routes that require the same thing to equal some text, by that text.
type exactly struct {
	what   condition
	routes map[string][]*route
}

// add adds a route, whose place is after all routes added before.
func (x *index) add(r *route) {
	c := r.key()
	if c == nil {
		x.any = append(x.any, r)

		return
	}

	for i := range x.by {
		if what := &x.by[i].what; what.of == c.of && what.header == c.header {
			x.by[i].routes[c.want.equals] = append(x.by[i].routes[c.want.equals], r)

			return
		}
	}

	x.by = append(x.by, exactly{what: *c, routes: map[string][]*route{c.want.equals: {r}}})
}

// find appends the lists of the routes that may take a call, each in order. The lists only grow, so they can be read without
// the lock.
func (x *index) find(f *facts, lists [][]*route) [][]*route {
	lists = append(lists, x.any)

	for i := range x.by {
		if text, there := f.text(&x.by[i].what); there {
			lists = append(lists, x.by[i].routes[text])
		}
	}

	return lists
}

// next removes the first route in script order from its list and returns it; nil if there is none left.
func next(lists [][]*route) *route {
	first := -1

	for i, list := range lists {
		if len(list) > 0 && (first < 0 || list[0].place < lists[first][0].place) {
			first = i
		}
	}

	if first < 0 {
		return nil
	}

	r := lists[first][0]
	lists[first] = lists[first][1:]

	return r
}

// key returns the condition that distinguishes a route from most others; nil if none is exact and cheap to check.
func (r *route) key() *condition {
	for _, of := range []subject{ofAgent, ofHeader, ofModel, ofPurpose} {
		for i := range r.conditions {
			if c := &r.conditions[i]; c.of == of && c.want.exact {
				return c
			}
		}
	}

	return nil
}
