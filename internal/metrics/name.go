package metrics

import "sync"

// other is the label of everything whose name is not known in advance. Models, tools and callers choose names, and each value of a
// label costs memory here and in Prometheus.
const other = "other"

// names are the values that a label may have.
type names struct{ known *sync.Map }

func newNames(known []string) names {
	n := names{known: &sync.Map{}}
	n.add(known)

	return n
}

func (n names) add(known []string) {
	for _, name := range known {
		n.known.Store(name, struct{}{})
	}
}

// label is the name if it is known.
func (n names) label(name string) string {
	if _, known := n.known.Load(name); known {
		return name
	}

	return other
}
