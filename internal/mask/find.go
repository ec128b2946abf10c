package mask

import "slices"

// find hides the matches of the rule in a window. The words are those that led to the window.
func (r *rule) find(s *scan, w window, words []window) {
	if r.near == nil && r.outline().atWord && fewWords(w, words) {
		r.findAtWords(s, w, words)

		return
	}

	for _, m := range r.re().FindAllStringSubmatchIndex(s.text[w.start:w.end], -1) {
		r.take(s, w, w.start, m)
	}
}

// searchCost is how many times longer searching a text takes than trying a match at one place that reads as much.
const searchCost = 3

// mostRead is about how far a failing match at a word reads.
const mostRead = 192

// fewWords reports whether trying a match at each word takes less time than searching the whole window.
func fewWords(w window, words []window) bool {
	read := 0
	for _, word := range words {
		read += min(word.end-word.start, mostRead)
	}

	return read < searchCost*(w.end-w.start)
}

// findAtWords finds the same matches as a search, for rules whose matches begin with a word: the leftmost match, and then the next one
// after it.
func (r *rule) findAtWords(s *scan, w window, words []window) {
	slices.SortFunc(words, func(a, b window) int { return a.start - b.start })

	done := w.start

	for _, word := range words {
		if word.start < done {
			continue
		}

		if m := r.anchored().FindStringSubmatchIndex(s.text[word.start:w.end]); m != nil {
			r.take(s, w, word.start, m)
			done = word.start + max(m[1], 1)
		}
	}
}

// take hides the secret of a match, unless a check excludes it. The indices of the match are relative to at.
func (r *rule) take(s *scan, w window, at int, m []int) {
	start, end := r.secret(m)
	start, end = at+start, at+end

	// A match that ends at the end of the window may have been cut off. If the window has its maximum size, only a secret is that long.
	if at+m[1] == w.end && w.end < len(s.text) {
		if w.end-w.start < longestSeen {
			return
		}

		for cut := end == w.end; cut && end < len(s.text) && isRun(s.text[end]); end++ {
		}
	}

	for end > start && s.text[end-1] == '\n' {
		end--
	}

	if start >= end || s.covered(start, end) {
		return
	}

	match := window{at + m[0], at + m[1]}
	for n := 0; r.named && n < longestNameBefore && match.start > 0 && isName(s.text[match.start-1]); n++ {
		match.start--
	}

	if r.check == nil || r.check(s, match, s.text[start:end]) {
		s.hide(start, end, r.marker)
	}
}

// secret returns the part of a match that is to be hidden: the secret group, or the whole match.
func (r *rule) secret(m []int) (start, end int) {
	for _, group := range r.groups() {
		if m[2*group] >= 0 && m[2*group] < m[2*group+1] {
			return m[2*group], m[2*group+1]
		}
	}

	return m[0], m[1]
}
