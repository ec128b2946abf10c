package metrics

// other is the label of everything whose name is not known in advance. Models, tools and callers choose names, and each value of a
// label costs memory here and in Prometheus.
const other = "other"

// names are the values that a label may have.
type names map[string]struct{}

func newNames(known []string) names {
	n := make(names, len(known))
	for _, name := range known {
		n[name] = struct{}{}
	}

	return n
}

// label is the name if it is known.
func (n names) label(name string) string {
	if _, known := n[name]; known {
		return name
	}

	return other
}
