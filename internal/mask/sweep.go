package mask

import (
	"slices"
	"sync"
)

// finder searches for secrets where one of its words occurs in the text.
type finder struct {
	words []string // lower case
	// at is called for each occurrence of a word, in the order in which they end; nil for a rule.
	at func(s *scan, start, end int)
	// rule is set if the finder is a regular expression. It runs after the pass, when its windows are complete.
	rule *rule
}

// catalog contains all finders. One automaton over all their words serves every policy; a policy skips the finders that it does not
// select.
type catalog struct {
	finders []finder
	words   *words
	// of lists the finders of each word.
	of [][]int32
}

// shared is built when the first text is masked: that takes a few milliseconds, which need not delay a server's start.
var shared = sync.OnceValue(newCatalog)

func newCatalog() *catalog {
	c := &catalog{finders: []finder{assignments(), prefixes(), discordTokens(), pemBlocks(), pemEnds(), pemBodies(), encoded(), cookies(), tables()}}

	for _, r := range append(builtinRules(), gitleaksRules()...) {
		c.finders = append(c.finders, finder{words: r.words, rule: r})
	}

	var list []string

	ids := map[string]int{}

	for i, f := range c.finders {
		for _, word := range f.words {
			id, ok := ids[word]
			if !ok {
				id = len(list)
				ids[word] = id
				list = append(list, word)
				c.of = append(c.of, nil)
			}

			c.of[id] = append(c.of[id], int32(i))
		}
	}

	c.words = newWords(list, true)

	return c
}

// scan is one pass over a text.
type scan struct {
	catalog *catalog
	text    string
	wanted  names
	depth   int
	work    *budget
	spans   []span
	// notes are the pieces of text for rules to search; last is the latest note of each rule, counted from 1.
	notes []noted
	last  []int32
	// found is what the finders other than rules have found.
	found []window

	named   int    // how far assignments has read names
	run     window // the last run of token characters
	stop    int    // the end of the last run without spaces
	token   int    // how far prefixes has found a token
	decoded int    // how far encoded has read
	tabled  int    // how far tables has read
	header  header // the last line that tables read
	cookie  int    // how far cookies has read
	block   int    // how far pemEnds and pemBodies have read
}

type window struct{ start, end int }

type noted struct {
	window

	finder int32
	// words are the text from each triggering word on; they are kept for rules whose matches begin with a word.
	words []window
}

// sweep finds what the patterns match.
func sweep(text string, wanted names, work *budget) []span {
	return shared().sweep(text, wanted, 0, work)
}

func (c *catalog) sweep(text string, wanted names, depth int, work *budget) []span {
	s := &scan{catalog: c, text: text, wanted: wanted, depth: depth, work: work}

	c.words.each(text, func(word int32, start, end int) {
		for _, id := range c.of[word] {
			f := &c.finders[id]
			if f.rule == nil {
				f.at(s, start, end)
			} else if !work.over && f.rule.wanted(wanted) {
				s.note(id, start, end)
			}
		}
	})

	s.found = merge(s.spans)
	for _, n := range s.notes {
		if !work.spend(n.end - n.start) {
			break
		}

		c.finders[n.finder].rule.find(s, n.window, n.words)
	}

	return slices.DeleteFunc(s.spans, func(found span) bool { return !found.hides(text) })
}

const (
	// longestSeen is how far before and after its word a rule sees. No secret that an expression finds is longer.
	longestSeen = 16 << 10
	// mostSeen is how much a rule searches in one go, so that the budget is checked often enough.
	mostSeen = 128 << 10
)

// note records the text around a word for a rule. Windows that touch are merged, so that a rule sees a byte once, or twice where a
// window has reached its maximum size.
func (s *scan) note(id int32, start, end int) {
	near, ok := s.catalog.finders[id].rule.window(s, start, end)
	if !ok {
		return
	}

	if s.last == nil {
		s.last = make([]int32, len(s.catalog.finders))
	}

	near = window{max(near.start, start-longestSeen), min(near.end, start+longestSeen)}

	if last := s.last[id]; last > 0 && near.start <= s.notes[last-1].end && near.end-s.notes[last-1].start <= mostSeen {
		open := &s.notes[last-1]
		open.end = max(open.end, near.end)
		open.words = append(open.words, window{start, near.end})

		return
	}

	s.notes = append(s.notes, noted{near, id, []window{{start, near.end}}})
	s.last[id] = int32(len(s.notes))
}

// merge sorts spans and joins those that overlap.
func merge(spans []span) []window {
	sorted := make([]window, len(spans))
	for i, s := range spans {
		sorted[i] = window{s.start, s.end}
	}

	slices.SortFunc(sorted, func(a, b window) int { return a.start - b.start })

	merged := sorted[:0]

	for _, w := range sorted {
		if n := len(merged); n > 0 && w.start <= merged[n-1].end {
			merged[n-1].end = max(merged[n-1].end, w.end)
		} else {
			merged = append(merged, w)
		}
	}

	return merged
}

// covered reports whether a finder other than a rule has already found a piece of text.
func (s *scan) covered(start, end int) bool {
	i, _ := slices.BinarySearchFunc(s.found, start, func(w window, at int) int { return w.start - at - 1 })

	return i > 0 && end <= s.found[i-1].end
}

func (s *scan) hide(start, end int, name string) {
	s.spans = append(s.spans, span{start, end, name})
}

// runAt returns the run of token characters around a position. Positions come in ascending order, so the last run is cached and no
// character is read twice.
func (s *scan) runAt(at int) window {
	if at >= s.run.start && at < s.run.end {
		return s.run
	}

	start := at
	for start > s.run.end && isRun(s.text[start-1]) {
		start--
	}

	end := at
	for end < len(s.text) && isRun(s.text[end]) {
		end++
	}

	s.run = window{start, end}

	return s.run
}

// spaceAfter returns the next space or quote at or after a position.
func (s *scan) spaceAfter(at int) int {
	if at < s.stop {
		return s.stop
	}

	for at < len(s.text) && !isSpace(s.text[at]) && s.text[at] != '"' && s.text[at] != '\'' {
		at++
	}

	s.stop = at

	return at
}
