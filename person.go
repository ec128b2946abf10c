package tarsy

// Person is who does something. People see the name; what belongs to whom is decided by the identity, because others may have the same name.
type Person struct {
	// As in Session.Author.
	Name string
	// The id of an API key, "user:" with the user of a login or a proxy, "discord:" or "slack:" with the id of the user there. Empty for callers
	// without any, where no key is required: then the name decides.
	ID string
}
