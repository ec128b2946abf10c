package flow

// ViewOut is a port whose entries are seen as values of another type. Rules use the view in place of the port. The journal keeps
// the entries as they are. The function may return [ErrSkip], as that of a route.
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

// ViewIn is a port to which values of another type are routed. The journal keeps what the function makes of them. It may return
// [ErrSkip], as that of a route.
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
