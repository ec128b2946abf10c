package api

import "context"

// rowInput names a row of the board.
type rowInput struct {
	ID string `doc:"The id." path:"id"`
}

// changeInput names a row of the board and the version of it that the caller saw.
type changeInput struct {
	ID      string  `doc:"The id."                                                                                  path:"id"`
	IfMatch ifMatch `doc:"The ETag of the version that you change. Without it the response is 428; if the row has changed since, 412." header:"If-Match" required:"true"`
}

// request parses the body of a change and the version that the caller saw.
func request[T any](ctx context.Context, in *changeInput) (body T, version int64, err error) {
	if version, err = in.IfMatch.version(); err != nil {
		return body, 0, err
	}

	body, err = readRequest[T](callerOf(ctx).body)

	return body, version, err
}

// rowOutput is a row of the board with its version.
type rowOutput[T any] struct {
	ETag string `doc:"The version, for If-Match." header:"ETag"`
	Body T
}

// createdOutput is a new row of the board.
type createdOutput[T any] struct {
	ETag     string `doc:"The version, for If-Match." header:"ETag"`
	Location string `doc:"URL of the new row."        header:"Location"`
	Body     T
}
