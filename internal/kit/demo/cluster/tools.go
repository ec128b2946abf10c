package cluster

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

type nothing struct{}

type namespaceOnly struct {
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace; leave out for all namespaces"`
}

type named struct {
	Namespace string `json:"namespace" jsonschema:"the namespace of the object"`
	Name      string `json:"name"      jsonschema:"the name of the object"`
}

type nodeQuery struct {
	Name string `json:"name" jsonschema:"the name of the node"`
}

type logQuery struct {
	Namespace string `json:"namespace"            jsonschema:"the namespace of the pod"`
	Name      string `json:"name"                 jsonschema:"the full name of the pod"`
	Previous  bool   `json:"previous,omitempty"   jsonschema:"read the run before the last restart"`
	TailLines int    `json:"tail_lines,omitempty" jsonschema:"only the last lines, 0 for all"`
}

type eventQuery struct {
	Namespace      string `json:"namespace"                 jsonschema:"the namespace"`
	InvolvedObject string `json:"involved_object,omitempty" jsonschema:"only events of objects whose kind/name contains this"`
}

func listNamespaces(nothing) (string, error) {
	text, _ := read("namespaces.txt")

	return text, nil
}

func getPods(in namespaceOnly) (string, error) {
	if in.Namespace != "" {
		if err := checkNamespace(in.Namespace); err != nil {
			return "", err
		}
	}
	table := [][]string{{"NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"}}
	for _, p := range pods() {
		if in.Namespace == "" || p.namespace == in.Namespace {
			table = append(table, []string{p.namespace, p.name, p.ready, p.status, p.restarts, p.age, p.ip, p.node})
		}
	}
	if len(table) == 1 {
		return fmt.Sprintf("No resources found in %s namespace.", in.Namespace), nil
	}

	return render(table), nil
}

func describePod(in named) (string, error) {
	p, err := findPod(in.Namespace, in.Name)
	if err != nil {
		return "", err
	}
	text, _ := read(
		p.namespace+"/pod/"+p.name+".txt", p.namespace+"/pod/"+p.owner+".txt", p.namespace+"/pod/"+p.family()+".txt",
		"pod."+strings.ToLower(p.status)+".txt", "pod.txt")
	restarts, _, _ := strings.Cut(p.restarts, " ")
	ready, state := "True", "Running"
	if strings.HasPrefix(p.ready, "0/") {
		ready, state = "False", "Terminated ("+p.status+")"
	}

	return strings.NewReplacer(
		"{{NAME}}", p.name, "{{NAMESPACE}}", p.namespace, "{{NODE}}", p.node, "{{IP}}", p.ip, "{{KIND}}", p.kind,
		"{{WORKLOAD}}", p.owner, "{{READY}}", ready, "{{STATE}}", state, "{{RESTARTS}}", restarts,
	).Replace(text), nil
}

func getPodLogs(in logQuery) (string, error) {
	p, err := findPod(in.Namespace, in.Name)
	if err != nil {
		return "", err
	}
	if in.TailLines < 0 {
		return "", fmt.Errorf("error: tail_lines must be 0 or more, got %d", in.TailLines)
	}
	if err := p.unreachable(); err != nil {
		return "", err
	}
	dir := p.namespace + "/log/"
	var text string
	if in.Previous {
		var found bool
		text, found = read(dir+p.name+".previous.txt", dir+p.owner+".previous.txt")
		if !found || p.restarts == "0" {
			return "", noPreviousRun(p)
		}
	} else {
		text, _ = read(dir+p.name+".txt", dir+p.owner+".txt", "log.txt")
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if in.TailLines > 0 && in.TailLines < len(lines) {
		lines = lines[len(lines)-in.TailLines:]
	}

	return strings.Join(lines, "\n"), nil
}

func describeNode(in nodeQuery) (string, error) {
	var there []string
	for _, p := range pods() {
		if p.node == in.Name {
			there = append(there, "  "+p.namespace+"/"+p.name+"  "+p.status)
		}
	}
	if len(there) == 0 {
		return "", notFound("nodes", in.Name)
	}
	text, _ := read("node/"+in.Name+".txt", "node.txt")

	return strings.NewReplacer("{{NAME}}", in.Name, "{{PODS}}", strings.Join(there, "\n")).Replace(text), nil
}

func getEvents(in eventQuery) (string, error) {
	if err := checkNamespace(in.Namespace); err != nil {
		return "", err
	}
	table := [][]string{{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}}
	for _, row := range rows("events.tsv") {
		if row[0] == in.Namespace && strings.Contains(row[4], in.InvolvedObject) {
			table = append(table, row[1:])
		}
	}
	if len(table) == 1 {
		return fmt.Sprintf("No events found in %s namespace.", in.Namespace), nil
	}

	return render(table), nil
}

func getDeployment(in named) (string, error) {
	text, err := object(in.Namespace, "deployment", "deployments.apps", in.Name)
	if err == nil {
		return text, nil
	}
	owned, available := replicas(in.Namespace, in.Name)
	if owned == 0 {
		return "", err
	}
	text, _ = read("deployment.txt")

	return strings.NewReplacer(
		"{{NAME}}", in.Name, "{{NAMESPACE}}", in.Namespace, "{{REPLICAS}}", strconv.Itoa(owned),
		"{{AVAILABLE}}", strconv.Itoa(available), "{{UNAVAILABLE}}", strconv.Itoa(owned-available),
	).Replace(text), nil
}

// replicas counts the pods of a deployment, without those that are being deleted.
func replicas(namespace, name string) (owned, available int) {
	for _, p := range pods() {
		if p.namespace != namespace || p.owner != name || p.kind != "Deployment" || p.status == terminating {
			continue
		}
		owned++
		if strings.HasPrefix(p.ready, "1/") {
			available++
		}
	}

	return owned, available
}

func getConfigMap(in named) (string, error) {
	return object(in.Namespace, "configmap", "configmaps", in.Name)
}

// getSecret returns a Secret with all its data, as a careless tool does: masking it is not this server's job.
func getSecret(in named) (string, error) {
	return object(in.Namespace, "secret", "secrets", in.Name)
}

func getCertificate(in named) (string, error) {
	return object(in.Namespace, "certificate", "certificates.cert-manager.io", in.Name)
}

func getJob(in named) (string, error) {
	return object(in.Namespace, "job", "jobs.batch", in.Name)
}

func rolloutRestart(in named) (string, error) {
	if err := checkNamespace(in.Namespace); err != nil {
		return "", err
	}
	count, _ := replicas(in.Namespace, in.Name)
	if count == 0 {
		return "", notFound("deployments.apps", in.Name)
	}

	return fmt.Sprintf(`deployment.apps/%s restarted (simulated: nothing was changed)
What it would do in namespace %s:
- set the annotation kubectl.kubernetes.io/restartedAt of the pod template
- replace %d pods one after another by new ones with the same image and configuration
- wait for each new pod to be ready before the next is ended
A restart does not change images, limits or configuration: a cause that lies there comes back.
`, in.Name, in.Namespace, count), nil
}

// render lays a table out the way kubectl does.
func render(table [][]string) string {
	var text strings.Builder
	const padding = 3
	writer := tabwriter.NewWriter(&text, 0, 0, padding, ' ', 0)
	for _, row := range table {
		// Writing to a strings.Builder never fails.
		_, _ = fmt.Fprintln(writer, strings.Join(row, "\t"))
	}
	_ = writer.Flush()

	return text.String()
}
