package metrics

import "sync"

// other is the label for every name that is not known in advance. Models, tools and callers choose names, and each label value
// costs memory here and in Prometheus.
const other = "other"

// names are the allowed values of a label.
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

// label returns the name if it is known, or else other.
func (n names) label(name string) string {
	if _, known := n.known.Load(name); known {
		return name
	}

	return other
}
