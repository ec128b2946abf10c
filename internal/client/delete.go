package client

import (
	"context"
	"net/http"
	"net/url"
)

// Delete takes a session that is over out of all lists.
func (c *Client) Delete(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()

	request, err := c.request(ctx, http.MethodDelete, "/api/v1/sessions/"+url.PathEscape(id), nil, nil)
	if err != nil {
		return err
	}

	response, err := c.cfg.HTTP.Do(request)
	if err != nil {
		return &UnreachableError{Server: c.Server(), Err: err}
	}

	defer func() { _ = response.Body.Close() }()

	if response.StatusCode >= http.StatusBadRequest {
		return readProblem(response)
	}

	return nil
}
