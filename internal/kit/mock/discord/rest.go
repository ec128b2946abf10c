package discord

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/nearest"
)

const (
	// Path is the root of everything that clients use.
	Path        = "/discord"
	apiPath     = Path + "/api"
	gatewayPath = Path + "/gateway"
	resumePath  = "/resume"

	// maxBody limits requests: Discord allows 25 MiB of files.
	maxBody = 26 << 20
)

// call is a request to the REST API.
type call struct {
	*http.Request

	server  *Server
	world   *world
	body    []byte
	files   []Attachment
	channel *channel // if the path names one
}

// route is an operation of the REST API. It runs alone: no other route and no step of a conversation changes the world at
// the same time.
type route struct {
	name   string // method and path
	handle func(c *call) (any, error)
}

// public reports whether the route needs no bot token: the address of the gateway, and paths that contain their own token.
func (r route) public() bool { return r.name == "GET /gateway" || strings.Contains(r.name, "{token}") }

// These two patterns match the same requests, which http.ServeMux does not allow.
const (
	pinOf       = "DELETE /channels/{channel}/messages/pins/{message}"
	reactionsOf = "DELETE /channels/{channel}/messages/{message}/reactions"
)

// routes returns the operations, by their names in Discord's documentation.
func routes() []route {
	return []route{
		{"GET /gateway", (*call).getGateway},
		{"GET /gateway/bot", (*call).getGatewayBot},
		{"GET /users/@me", (*call).getBot},
		{"GET /users/@me/guilds", (*call).getBotGuilds},
		{"POST /users/@me/channels", (*call).postDirectMessages},
		{"GET /users/{user}", (*call).getUser},
		{"GET /applications/@me", (*call).getApplication},
		{"GET /oauth2/applications/@me", (*call).getApplication},
		{"GET /guilds/{guild}", (*call).getGuild},
		{"GET /guilds/{guild}/channels", (*call).getGuildChannels},
		{"GET /guilds/{guild}/roles", (*call).getGuildRoles},
		{"GET /guilds/{guild}/members", (*call).getGuildMembers},
		{"GET /guilds/{guild}/members/{user}", (*call).getGuildMember},
		{"GET /guilds/{guild}/threads/active", (*call).getActiveThreads},
		{"GET /channels/{channel}", (*call).getChannel},
		{"PATCH /channels/{channel}", (*call).patchChannel},
		{"DELETE /channels/{channel}", (*call).deleteChannel},
		{"GET /channels/{channel}/messages", (*call).getMessages},
		{"POST /channels/{channel}/messages", (*call).postMessage},
		{"GET /channels/{channel}/messages/{message}", (*call).getMessage},
		{"PATCH /channels/{channel}/messages/{message}", (*call).patchMessage},
		{"DELETE /channels/{channel}/messages/{message}", (*call).deleteMessage},
		{"GET /channels/{channel}/messages/pins", (*call).getPins},
		{"PUT /channels/{channel}/messages/pins/{message}", (*call).putPin},
		{pinOf, (*call).deletePin},
		{"GET /channels/{channel}/pins", (*call).getOldPins},
		{"PUT /channels/{channel}/pins/{message}", (*call).putPin},
		{"DELETE /channels/{channel}/pins/{message}", (*call).deletePin},
		{reactionsOf, (*call).deleteReactions},
		{"GET /channels/{channel}/messages/{message}/reactions/{emoji}", (*call).getReactions},
		{"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}", (*call).deleteEmojiReactions},
		{"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/{user}", (*call).deleteUserReaction},
		{"PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me", (*call).putReaction},
		{"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/@me", (*call).deleteReaction},
		{"POST /channels/{channel}/messages/{message}/threads", (*call).postThreadFromMessage},
		{"POST /channels/{channel}/threads", (*call).postThread},
		{"GET /channels/{channel}/thread-members", (*call).getThreadMembers},
		{"PUT /channels/{channel}/thread-members/@me", (*call).putThreadMember},
		{"DELETE /channels/{channel}/thread-members/@me", (*call).deleteThreadMember},
		{"POST /channels/{channel}/typing", (*call).postTyping},
		{"POST /channels/{channel}/webhooks", (*call).postWebhook},
		{"GET /channels/{channel}/webhooks", (*call).getChannelWebhooks},
		{"GET /guilds/{guild}/webhooks", (*call).getGuildWebhooks},
		{"GET /webhooks/{webhook}", (*call).getWebhook},
		{"PATCH /webhooks/{webhook}", (*call).patchWebhook},
		{"DELETE /webhooks/{webhook}", (*call).deleteWebhook},
		{"GET /webhooks/{webhook}/{token}", (*call).getWebhook},
		{"PATCH /webhooks/{webhook}/{token}", (*call).patchWebhook},
		{"DELETE /webhooks/{webhook}/{token}", (*call).deleteWebhook},
		{"POST /webhooks/{webhook}/{token}", (*call).executeWebhook},
		{"GET /webhooks/{webhook}/{token}/messages/{message}", (*call).getHookMessage},
		{"PATCH /webhooks/{webhook}/{token}/messages/{message}", (*call).patchHookMessage},
		{"DELETE /webhooks/{webhook}/{token}/messages/{message}", (*call).deleteHookMessage},
		{"POST /interactions/{interaction}/{token}/callback", (*call).postCallback},
		{"GET /applications/{application}/commands", (*call).getCommands},
		{"POST /applications/{application}/commands", (*call).postCommand},
		{"PUT /applications/{application}/commands", (*call).putCommands},
		{"GET /applications/{application}/commands/{command}", (*call).getCommand},
		{"PATCH /applications/{application}/commands/{command}", (*call).patchCommand},
		{"DELETE /applications/{application}/commands/{command}", (*call).deleteCommand},
		{"GET /applications/{application}/guilds/{guild}/commands", (*call).getCommands},
		{"POST /applications/{application}/guilds/{guild}/commands", (*call).postCommand},
		{"PUT /applications/{application}/guilds/{guild}/commands", (*call).putCommands},
		{"GET /applications/{application}/guilds/{guild}/commands/{command}", (*call).getCommand},
		{"PATCH /applications/{application}/guilds/{guild}/commands/{command}", (*call).patchCommand},
		{"DELETE /applications/{application}/guilds/{guild}/commands/{command}", (*call).deleteCommand},
	}
}

func routeNames() []string { return mapped(routes(), func(r route) string { return r.name }) }

func isRoute(name string) bool { return slices.Contains(routeNames(), name) }

func routeHint(name string) string { return nearest.Hint(name, routeNames(), "routes") }

// serveREST registers the routes.
func (s *Server) serveREST(mux *http.ServeMux) {
	var pin, reactions http.HandlerFunc

	for _, r := range routes() {
		method, path, _ := strings.Cut(r.name, " ")
		handle := func(w http.ResponseWriter, req *http.Request) { s.answer(w, req, r) }

		switch r.name {
		case pinOf:
			pin = handle
		case reactionsOf:
			reactions = handle
		default:
			mux.HandleFunc(method+" "+apiPath+"/{version}"+path, handle)
		}
	}

	mux.HandleFunc("DELETE "+apiPath+"/{version}/channels/{channel}/messages/{message}/{part}", func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.PathValue("part") == "reactions":
			reactions(w, req)
		case req.PathValue("message") == "pins":
			req.SetPathValue("message", req.PathValue("part"))
			pin(w, req)
		default:
			s.unknown(w, req)
		}
	})

	mux.HandleFunc(apiPath+"/", s.unknown)
	mux.HandleFunc("GET "+attachmentPath+"{channel}/{attachment}/{name}", s.serveAttachment)
}

// unknown answers a request to an operation that does not exist.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	s.unknownRequests.Add(fmt.Sprintf("Discord: %s %s: there is no such operation", r.Method, r.URL.Path))
	respond(w, nil, errNotFound)
}

// answer answers a request to a route.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, to route) {
	// By this header clients distinguish Discord's responses from those of the network in front of it.
	w.Header().Set("Via", "1.1 tarsy-mock")

	if v := r.PathValue("version"); v != "v9" && v != "v10" {
		respond(w, nil, errVersion)

		return
	}

	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bot "); !to.public() && (!ok || !s.gateway.accepts(token)) {
		respond(w, nil, errUnauthorized)

		return
	}

	if refused := s.limiter.take(w.Header(), to.name, r.PathValue("channel")+r.PathValue("guild")+r.PathValue("webhook")); refused != nil {
		write(w, http.StatusTooManyRequests, refused)

		return
	}

	c := &call{Request: r, server: s, world: s.world}
	if err := c.read(w); err != nil {
		respond(w, nil, err)

		return
	}

	result, err := c.run(to)
	respond(w, result, err)
}

// run finds the channel of the path and handles the request.
func (c *call) run(to route) (any, error) {
	c.server.serial.Lock()
	defer c.server.serial.Unlock()

	c.world.host = c.Host

	if id := c.PathValue("channel"); id != "" {
		if c.channel = c.world.channelByID(id); c.channel == nil {
			return nil, errUnknownChannel
		}

		if !c.channel.allowed("view") {
			return nil, errMissingAccess
		}
	}

	return to.handle(c)
}

// read reads the body, and the files if there are any.
func (c *call) read(w http.ResponseWriter) error {
	body := http.MaxBytesReader(w, c.Body, maxBody)

	kind, params, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		data, err := io.ReadAll(body)
		c.body = data

		return err
	}

	for parts := multipart.NewReader(body, params["boundary"]); ; {
		part, err := parts.NextPart()
		if err == io.EOF { //nolint:errorlint // what the reader returns, unwrapped
			return nil
		}

		if err != nil {
			return errJSON
		}

		data, err := io.ReadAll(part)
		if err != nil {
			return errJSON
		}

		switch {
		case part.FormName() == "payload_json":
			c.body = data
		case part.FileName() != "":
			c.files = append(c.files, Attachment{Name: part.FileName(), ContentType: part.Header.Get("Content-Type"), Data: data, field: part.FormName()})
		}
	}
}

// decode decodes the body into a value; an empty body changes nothing.
func (c *call) decode(into any) error {
	if len(c.body) == 0 {
		return nil
	}

	if err := json.Unmarshal(c.body, into); err != nil {
		return errJSON
	}

	return nil
}

// noContent is a result without a body; created is a result with status 201.
type (
	noContent struct{}
	created   struct{ value any }
)

// respond writes a result or an error.
func respond(w http.ResponseWriter, result any, err error) {
	if err != nil {
		failed, ok := err.(*apiError) //nolint:errorlint // errors of routes are not wrapped
		if !ok {
			failed = &apiError{status: http.StatusInternalServerError, Message: err.Error()}
		}

		write(w, failed.status, failed)

		return
	}

	switch value := result.(type) {
	case noContent:
		w.WriteHeader(http.StatusNoContent)
	case created:
		write(w, http.StatusCreated, value.value)
	default:
		write(w, http.StatusOK, value)
	}
}

func write(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)

		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that has left needs no response
}
