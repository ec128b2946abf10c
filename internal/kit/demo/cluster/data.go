package cluster

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed data
var files embed.FS

var objectName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// read returns the first of the named files that exists.
func read(paths ...string) (string, bool) {
	for _, path := range paths {
		if data, err := files.ReadFile("data/" + path); err == nil {
			return string(data), true
		}
	}

	return "", false
}

// rows returns the cells of a tab-separated table.
func rows(path string) [][]string {
	text, _ := read(path)
	var result [][]string
	for line := range strings.Lines(text) {
		result = append(result, strings.Split(strings.TrimSpace(line), "\t"))
	}

	return result
}

// notFound returns kubectl's error for a missing object.
func notFound(resource, name string) error {
	return fmt.Errorf("Error from server (NotFound): %s %q not found", resource, name) //nolint:staticcheck // kubectl's words
}

func noPreviousRun(p pod) error {
	return fmt.Errorf( //nolint:staticcheck // kubectl's words
		"Error from server (BadRequest): previous terminated container %q in pod %q not found", p.family(), p.name)
}

// checkNamespace reports a wrong namespace as such, which the API server does not do: it saves a turn.
func checkNamespace(namespace string) error {
	text, _ := read("namespaces.txt")
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == "Active" && fields[0] == namespace {
			return nil
		}
	}

	return notFound("namespaces", namespace)
}

// object reads data/<namespace>/<kind>/<name>.txt.
func object(namespace, kind, resource, name string) (string, error) {
	if err := checkNamespace(namespace); err != nil {
		return "", err
	}
	if objectName.MatchString(name) {
		if text, ok := read(namespace + "/" + kind + "/" + name + ".txt"); ok {
			return text, nil
		}
	}

	return "", notFound(resource, name)
}

// Statuses of pods whose log cannot be read.
const (
	pending     = "Pending"
	terminating = "Terminating"
)

// pod is a row of pods.tsv.
type pod struct {
	namespace, name, ready, status, restarts, age, ip, node string
	// kind and owner identify what created the pod.
	kind, owner string
}

func pods() []pod {
	var result []pod
	for _, row := range rows("pods.tsv") {
		result = append(result, pod{
			namespace: row[0], name: row[1], ready: row[2], status: row[3], restarts: row[4], age: row[5], ip: row[6], node: row[7],
			kind: row[8], owner: row[9],
		})
	}

	return result
}

func findPod(namespace, name string) (pod, error) {
	if err := checkNamespace(namespace); err != nil {
		return pod{}, err
	}
	for _, p := range pods() {
		if p.namespace == namespace && p.name == name {
			return p, nil
		}
	}

	return pod{}, notFound("pods", name)
}

// unreachable returns kubectl's error for the log of a pod that is on no node, or on a node that does not respond.
func (p pod) unreachable() error {
	switch p.status {
	case pending:
		return fmt.Errorf("Error from server (BadRequest): pod %s does not have a host assigned", p.name) //nolint:staticcheck // kubectl's words
	case terminating:
		return fmt.Errorf("Error from server: Get \"https://%s:10250/containerLogs/%s/%s/%s\": dial tcp: i/o timeout", //nolint:staticcheck // the same
			p.node, p.namespace, p.name, p.family())
	default:
		return nil
	}
}

// family returns the owner, without the number that a CronJob gives its jobs.
func (p pod) family() string {
	if i := strings.LastIndexByte(p.owner, '-'); p.kind == "Job" && i > 0 {
		return p.owner[:i]
	}

	return p.owner
}
