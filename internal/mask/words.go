package mask

// words finds many words in one pass over a text: the Aho-Corasick automaton, as a table with a column for each letter that occurs in a
// word.
type words struct {
	column [256]uint16
	width  int32
	// next contains the state that follows a state on a column. States are offsets into it; negative ones end a word.
	next []int32
	// ends contains the words that end in a state.
	ends [][]int32
	size []int32
}

// newWords builds the automaton. With fold, words must be lower case and letters of the text match either case.
func newWords(list []string, fold bool) *words {
	w := &words{width: 1, size: make([]int32, len(list))}

	for i, word := range list {
		w.size[i] = int32(len(word))

		for _, c := range []byte(word) {
			if w.column[c] == 0 {
				w.column[c] = uint16(w.width)
				w.width++
			}
		}
	}

	if fold {
		for c := byte('a'); c <= 'z'; c++ {
			w.column[c-'a'+'A'] = w.column[c]
		}
	}

	w.grow()

	for i, word := range list {
		w.add(int32(i), word)
	}

	w.link()

	return w
}

func (w *words) grow() int32 {
	w.ends = append(w.ends, nil)
	w.next = append(w.next, make([]int32, w.width)...)

	return int32(len(w.ends) - 1)
}

func (w *words) add(id int32, word string) {
	state := int32(0)

	for _, c := range []byte(word) {
		cell := state*w.width + int32(w.column[c])
		if w.next[cell] == 0 {
			// grow may move the table, so its result is stored afterwards.
			grown := w.grow()
			w.next[cell] = grown
		}

		state = w.next[cell]
	}

	w.ends[state] = append(w.ends[state], id)
}

// link completes the table breadth first: where a word does not continue, its longest suffix that begins a word does.
func (w *words) link() {
	fail := make([]int32, len(w.ends))
	queue := make([]int32, 0, len(w.ends))

	for c := range w.width {
		if s := w.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}

	for i := 0; i < len(queue); i++ {
		state := queue[i]
		w.ends[state] = append(w.ends[state], w.ends[fail[state]]...)

		for c := range w.width {
			cell := state*w.width + c
			onward := w.next[fail[state]*w.width+c]

			if s := w.next[cell]; s != 0 {
				fail[s] = onward
				queue = append(queue, s)
			} else {
				w.next[cell] = onward
			}
		}
	}

	for i, s := range w.next {
		w.next[i] = s * w.width
		if len(w.ends[s]) > 0 {
			w.next[i] = -w.next[i]
		}
	}
}

// each calls found for every occurrence of a word, in the order in which they end.
func (w *words) each(text string, found func(word int32, start, end int)) {
	state := int32(0)

	for i := range len(text) {
		state = w.next[state+int32(w.column[text[i]])]
		if state >= 0 {
			continue
		}

		state = -state
		for _, id := range w.ends[state/w.width] {
			found(id, i+1-int(w.size[id]), i+1)
		}
	}
}

// in reports whether any of the words occurs in a text.
func (w *words) in(text string) bool {
	state := int32(0)

	for i := range len(text) {
		if state = w.next[state+int32(w.column[text[i]])]; state < 0 {
			return true
		}
	}

	return false
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isUpper(c) || isLower(c) || isDigit(c) }
func isWord(c byte) bool  { return isAlnum(c) || c == '_' }
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isName reports whether c is a character of a key's name.
func isName(c byte) bool { return isWord(c) || c == '-' || c == '.' }

// isRun reports whether c is a character of tokens; spaces, quotes and brackets end a run.
func isRun(c byte) bool { return isAlnum(c) || runSigns[c] }

// runSigns are the signs that occur within tokens.
var runSigns = [256]bool{
	'_': true, '-': true, '.': true, '~': true, '+': true, '/': true, '=': true, '%': true, ':': true, '@': true, '|': true, '$': true, '\\': true,
}
