package published

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"tarsy.dev/tarsy"
)

const (
	defaultPageSize, maxPageSize = 25, 100
	// listed is the maximum number of sessions that pages can reach and that are counted: each page of the API costs a request.
	listed = 1000
	// apiPage is the largest page of the API.
	apiPage = 200
)

// sessions is the response of GET /sessions.
type sessions struct {
	Sessions   []item `json:"sessions"`
	Pagination paging `json:"pagination"`
}

type paging struct {
	Page       int `json:"page"`
	PageSize   int `json:"page_size"`
	TotalPages int `json:"total_pages"`
	TotalItems int `json:"total_items"`
}

// list handles GET /sessions.
func list(c call) (int, any, error) {
	query, page, err := readList(c.URL.Query())
	if err != nil {
		return 0, nil, err
	}

	found, err := c.sessions(query)
	if err != nil {
		return 0, nil, err
	}

	page.TotalItems = len(found)
	page.TotalPages = (len(found) + page.PageSize - 1) / page.PageSize

	first := min((page.Page-1)*page.PageSize, len(found))
	answer := sessions{Sessions: []item{}, Pagination: page}

	for _, s := range found[first:min(first+page.PageSize, len(found))] {
		answer.Sessions = append(answer.Sessions, itemOf(s))
	}

	return http.StatusOK, answer, nil
}

// sessions requests all sessions that pages can reach.
func (c call) sessions(query url.Values) ([]tarsy.SessionItem, error) {
	var found []tarsy.SessionItem

	query.Set("limit", strconv.Itoa(apiPage))

	for len(found) < listed {
		var page struct {
			Sessions   []tarsy.SessionItem `json:"sessions"`
			NextCursor string              `json:"next_cursor"`
		}

		if err := c.get("/sessions", query, &page); err != nil {
			return nil, err
		}

		found = append(found, page.Sessions...)

		if page.NextCursor == "" {
			break
		}

		query.Set("cursor", page.NextCursor)
	}

	return found, nil
}

// renamed maps parameters to their names in the API.
func renamed() map[string]string {
	return map[string]string{
		"status": "status", "alert_type": "alert_type", "chain_id": "chain_id", "search": "search", "assignee": "assignee",
		"start_date": "created_after", "end_date": "created_before",
	}
}

// readList translates the parameters of a list. Parameters without an effect are rejected: a list that ignores a filter is
// misleading.
func readList(given url.Values) (query url.Values, page paging, err error) {
	query, page = url.Values{}, paging{Page: 1, PageSize: defaultPageSize}

	for name, values := range given {
		value := values[0]

		switch own, known := renamed()[name]; {
		case known && value != "":
			query.Set(own, value)
		case known || value == "":
		case name == "page":
			page.Page, err = number(name, value, listed)
		case name == "page_size":
			page.PageSize, err = number(name, value, maxPageSize)
		case name == "sort_by" && value != "created_at", name == "sort_order" && value != "desc":
			err = refuse(name, "sessions are sorted by created_at, newest first")
		case slices.Contains([]string{"sort_by", "sort_order"}, name):
		default:
			err = refuse(name, "this parameter has no effect here")
		}

		if err != nil {
			return nil, page, err
		}
	}

	if page.Page*page.PageSize > listed {
		return nil, page, refuse("page", "pages end at %d sessions; narrow the filter, or use the cursor of %s/sessions", listed, apiPath)
	}

	return query, page, nil
}

func number(name, value string, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return 0, refuse(name, "a number from 1 to %d is needed", most)
	}

	return n, nil
}
