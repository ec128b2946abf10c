package discord

import (
	"net/http"
	"slices"
	"strings"
)

// apiError is an error in Discord's format.
type apiError struct {
	status  int
	Message string         `json:"message"`
	Code    int            `json:"code"`
	Errors  map[string]any `json:"errors,omitempty"`
}

// Error implements error.
func (e *apiError) Error() string { return e.Message }

// Errors returned by the routes; their codes are from Discord's documentation.
var (
	errNotFound       = &apiError{status: http.StatusNotFound, Message: "404: Not Found"}
	errUnauthorized   = &apiError{status: http.StatusUnauthorized, Message: "401: Unauthorized"}
	errVersion        = &apiError{status: http.StatusBadRequest, Message: "Invalid API version provided", Code: 50041}
	errUnknownChannel = &apiError{status: http.StatusNotFound, Message: "Unknown Channel", Code: 10003}
	errUnknownGuild   = &apiError{status: http.StatusNotFound, Message: "Unknown Guild", Code: 10004}
	errUnknownMember  = &apiError{status: http.StatusNotFound, Message: "Unknown Member", Code: 10007}
	errUnknownMessage = &apiError{status: http.StatusNotFound, Message: "Unknown Message", Code: 10008}
	errUnknownUser    = &apiError{status: http.StatusNotFound, Message: "Unknown User", Code: 10013}
	errMissingAccess  = &apiError{status: http.StatusForbidden, Message: "Missing Access", Code: 50001}
	errNotAuthor      = &apiError{status: http.StatusForbidden, Message: "Cannot edit a message authored by another user", Code: 50005}
	errEmpty          = &apiError{status: http.StatusBadRequest, Message: "Cannot send an empty message", Code: 50006}
	errPermissions    = &apiError{status: http.StatusForbidden, Message: "Missing Permissions", Code: 50013}
	errChannelType    = &apiError{status: http.StatusBadRequest, Message: "Cannot execute action on this channel type", Code: 50024}
	errArchived       = &apiError{status: http.StatusBadRequest, Message: "Thread is archived", Code: 50083}
	errJSON           = &apiError{status: http.StatusBadRequest, Message: "The request body contains invalid JSON.", Code: 50109}
	errThreadExists   = &apiError{status: http.StatusBadRequest, Message: "A thread has already been created for this message", Code: 160004}
)

// invalidForm returns the error for a field; dots in its name separate nested fields.
func invalidForm(field, code, message string) *apiError {
	errors := map[string]any{"_errors": []map[string]string{{"code": code, "message": message}}}

	for _, key := range slices.Backward(strings.Split(field, ".")) {
		errors = map[string]any{key: errors}
	}

	return &apiError{status: http.StatusBadRequest, Message: "Invalid Form Body", Code: 50035, Errors: errors}
}
