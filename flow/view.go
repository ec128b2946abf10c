package flow

// ViewOut presents the entries of a port as values of another type. Rules use the view instead of the port; the journal keeps
// the original entries. The function can return [ErrSkip], as in a route.
func ViewOut[A, B any](from Out[A], transform func(A) (B, error)) Out[B] {
	view := Out[B]{port: from.port}
	if transform == nil || from.read == nil {
		return view
	}

	view.read = func(entry Entry) (B, error) {
		value, err := from.read(entry)
		if err != nil {
			var none B

			return none, err
		}

		return transform(value)
	}

	return view
}

// ViewIn accepts values of another type on a port. The journal keeps the values that the function returns. The function can
// return [ErrSkip], as in a route.
func ViewIn[A, B any](to In[B], transform func(A) (B, error)) In[A] {
	view := In[A]{port: to.port}
	if transform == nil || to.wrap == nil {
		return view
	}

	view.wrap = func(value A) (Entry, error) {
		result, err := transform(value)
		if err != nil {
			return Entry{}, err
		}

		return to.wrap(result)
	}

	return view
}
