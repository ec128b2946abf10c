package deploycheck_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

const (
	chartPath = root + "/deploy/helm/tarsy"
	namespace = "monitoring"
)

const minimal = "database: {existingSecret: tarsy-database}\n"

// everything sets every value that has no default.
const everything = minimal + `
replicas: 3
image: {repository: registry.example/tarsy, tag: "1.2.3"}
imagePullSecrets: [{name: registry}]
existingSecrets: [tarsy-keys, tarsy-receivers]
env: [{name: PROMETHEUS_URL, value: "http://prometheus:9090"}]
config: {system: {dashboard_url: "https://tarsy.example.com"}}
tls: {existingSecret: tarsy-tls}
serviceAccount: {annotations: {example.com/role: tarsy}}
rbac: {create: true}
service: {type: LoadBalancer, port: 443, annotations: {example.com/internal: "true"}}
ingress: {enabled: true, className: nginx, annotations: {a: b}, hosts: [tarsy.example.com], tls: [{secretName: web, hosts: [tarsy.example.com]}]}
podDisruptionBudget: {minAvailable: 50%}
networkPolicy: {enabled: true, from: [{namespaceSelector: {matchLabels: {team: sre}}}], to: [{ipBlock: {cidr: 10.0.0.0/8}}]}
podAnnotations: {a: b}
podLabels: {team: sre}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {nodeAffinity: {}}
topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}]
priorityClassName: high
extraContainers:
  - name: kubernetes-mcp
    image: registry.example/kubernetes-mcp@sha256:0000000000000000000000000000000000000000000000000000000000000000
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
extraVolumes: [{name: runbooks, emptyDir: {}}]
extraVolumeMounts: [{name: runbooks, mountPath: /runbooks}]
`

// rendered contains the objects of a release, decoded strictly: a field unknown to Kubernetes is an error.
type rendered struct {
	deployment     appsv1.Deployment
	service        corev1.Service
	configMap      *corev1.ConfigMap
	serviceAccount *corev1.ServiceAccount
	disruption     *policyv1.PodDisruptionBudget
	networkPolicy  *networkingv1.NetworkPolicy
	ingress        *networkingv1.Ingress
	role           *rbacv1.ClusterRole
	binding        *rbacv1.ClusterRoleBinding
	notes          string
}

func (r *rendered) tarsy() corev1.Container { return r.deployment.Spec.Template.Spec.Containers[0] }

func render(t *testing.T, text string) (*rendered, error) {
	t.Helper()

	chart, err := loader.Load(chartPath)
	require.NoError(t, err)

	values, err := chartutil.ReadValues([]byte(text))
	require.NoError(t, err)

	with, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "tarsy", Namespace: namespace, IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}

	files, err := engine.Render(chart, with)
	if err != nil {
		return nil, err
	}

	r := &rendered{}

	for name, text := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			r.notes = text

			continue
		}

		for document := range strings.SplitSeq(text, "\n---\n") {
			if strings.TrimSpace(document) != "" {
				r.add(t, name, document)
			}
		}
	}

	return r, nil
}

func (r *rendered) add(t *testing.T, name, document string) {
	t.Helper()

	var kind metav1.TypeMeta

	require.NoError(t, yaml.Unmarshal([]byte(document), &kind), "%s\n%s", name, document)

	known := map[string]any{
		"apps/v1 Deployment":                              &r.deployment,
		"v1 Service":                                      &r.service,
		"v1 ConfigMap":                                    &r.configMap,
		"v1 ServiceAccount":                               &r.serviceAccount,
		"policy/v1 PodDisruptionBudget":                   &r.disruption,
		"networking.k8s.io/v1 NetworkPolicy":              &r.networkPolicy,
		"networking.k8s.io/v1 Ingress":                    &r.ingress,
		"rbac.authorization.k8s.io/v1 ClusterRole":        &r.role,
		"rbac.authorization.k8s.io/v1 ClusterRoleBinding": &r.binding,
	}
	require.Contains(t, known, kind.APIVersion+" "+kind.Kind, name)
	require.NoError(t, yaml.UnmarshalStrict([]byte(document), known[kind.APIVersion+" "+kind.Kind]), "%s\n%s", name, document)
}

func mustRender(t *testing.T, text string) *rendered {
	t.Helper()

	r, err := render(t, text)
	require.NoError(t, err)

	return r
}

func TestChartHasNoFindingsOfHelmLint(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{"minimal": minimal, "everything": everything} {
		values, err := chartutil.ReadValues([]byte(text))
		require.NoError(t, err)

		for _, message := range lint.AllWithKubeVersion(chartPath, values, namespace, nil).Messages {
			require.LessOrEqual(t, message.Severity, support.InfoSev, "%s: %v", name, message)
		}
	}
}

func TestChartRendersObjectsThatKubernetesKnows(t *testing.T) {
	t.Parallel()

	r := mustRender(t, minimal)
	require.EqualValues(t, 2, *r.deployment.Spec.Replicas)
	require.Equal(t, "tarsy:0.1.0", r.tarsy().Image)
	require.Equal(t, "{}\n", r.configMap.Data["tarsy.yaml"])
	require.Nil(t, r.ingress)
	require.Nil(t, r.networkPolicy)
	require.Nil(t, r.role, "nobody may read the cluster unless asked for")
	require.False(t, *r.deployment.Spec.Template.Spec.AutomountServiceAccountToken)
	require.EqualValues(t, 1, r.disruption.Spec.MinAvailable.IntValue())
	require.Equal(t, r.deployment.Spec.Selector.MatchLabels, r.disruption.Spec.Selector.MatchLabels)
	require.Equal(t, r.deployment.Spec.Selector.MatchLabels, r.service.Spec.Selector)
	require.Subset(t, r.deployment.Spec.Template.Labels, r.deployment.Spec.Selector.MatchLabels)
	require.Contains(t, r.notes, "keys create admin --scope admin")

	require.Nil(t, mustRender(t, minimal+"replicas: 1\n").disruption, "one pod with a budget could not be drained")

	full := mustRender(t, everything)
	require.Equal(t, "registry.example/tarsy:1.2.3", full.tarsy().Image)
	require.Equal(t, "system:\n  dashboard_url: https://tarsy.example.com\n", full.configMap.Data["tarsy.yaml"])
	require.Equal(t, "tarsy.example.com", full.ingress.Spec.Rules[0].Host)
	require.Len(t, full.networkPolicy.Spec.Egress, 2, "DNS and what is listed")
	require.Equal(t, []string{"tarsy-keys", "tarsy-receivers"}, []string{full.tarsy().EnvFrom[0].SecretRef.Name, full.tarsy().EnvFrom[1].SecretRef.Name})
	require.Len(t, full.deployment.Spec.Template.Spec.Containers, 2)
	require.True(t, *full.deployment.Spec.Template.Spec.AutomountServiceAccountToken)
	require.Equal(t, full.serviceAccount.Name, full.binding.Subjects[0].Name)
	require.Equal(t, full.role.Name, full.binding.RoleRef.Name)

	require.Nil(t, mustRender(t, minimal+"existingConfigMap: mine\n").configMap)
	pinned := "sha256:" + strings.Repeat("ab", 32)
	require.Equal(t, "tarsy@"+pinned, mustRender(t, minimal+"image: {digest: "+pinned+"}\n").deployment.Spec.Template.Spec.Containers[0].Image)
}

func TestChartProbesAndTakesURLFromSecret(t *testing.T) {
	t.Parallel()

	for text, scheme := range map[string]corev1.URIScheme{minimal: corev1.URISchemeHTTP, everything: corev1.URISchemeHTTPS} {
		c := mustRender(t, text).tarsy()
		require.Equal(t, "/livez", c.LivenessProbe.HTTPGet.Path)
		require.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
		require.Equal(t, scheme, c.LivenessProbe.HTTPGet.Scheme)
		require.Equal(t, scheme, c.ReadinessProbe.HTTPGet.Scheme)
		require.Equal(t, c.Ports[0].Name, c.ReadinessProbe.HTTPGet.Port.StrVal)

		at := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "TARSY_DATABASE_URL" })
		require.Equal(t, "tarsy-database", c.Env[at].ValueFrom.SecretKeyRef.Name)
		require.Empty(t, c.Env[at].Value)
	}
}

func TestChartPodsMeetRestrictedPodSecurityStandard(t *testing.T) {
	t.Parallel()

	checks, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)

	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}

	for _, text := range []string{minimal, everything} {
		r := mustRender(t, text)
		pod := r.deployment.Spec.Template

		for _, result := range checks.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
			require.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}

		require.True(t, *r.tarsy().SecurityContext.ReadOnlyRootFilesystem)
	}
}

func TestChartSchemaRefusesMistakes(t *testing.T) {
	t.Parallel()

	for mistake, want := range map[string]string{
		"replicas: 2":                                         "existingSecret",
		minimal + "replicas: two":                             "replicas",
		minimal + "replicas: 0":                               "replicas",
		minimal + "replica: 2":                                "replica",
		minimal + "image: {digest: sha256:abc}":               "digest",
		minimal + "ingress: {enabled: true}":                  "hosts",
		minimal + "log: {level: verbose}":                     "level",
		minimal + "service: {port: 0}":                        "port",
		minimal + "terminationGracePeriodSeconds: 5":          "terminationGracePeriodSeconds",
		minimal + "podDisruptionBudget: {minAvailable: half}": "minAvailable",
	} {
		_, err := render(t, mistake)
		require.ErrorContains(t, err, want, mistake)
	}
}

// The chart and the manifest give an MCP server the same rights; internal/config checks that they are read-only.
func TestChartRoleIsThatOfTheManifest(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile(filepath.Join(root, "deploy", "kubernetes", "rbac.yaml"))
	require.NoError(t, err)

	var manifest rbacv1.ClusterRole

	for document := range strings.SplitSeq(string(raw), "\n---\n") {
		if strings.Contains(document, "\nkind: ClusterRole\n") {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &manifest))
		}
	}

	require.NotEmpty(t, manifest.Rules)
	require.Equal(t, manifest.Rules, mustRender(t, everything).role.Rules)
}

// Every value of the chart is in its schema, and is either set by the values of these tests or has a default.
func TestChartSchemaNamesEveryValue(t *testing.T) {
	t.Parallel()

	chart, err := loader.Load(chartPath)
	require.NoError(t, err)

	var schema struct {
		Properties map[string]any `json:"properties"`
	}

	require.NoError(t, yaml.Unmarshal(chart.Schema, &schema))
	delete(schema.Properties, "global")
	require.Equal(t, slices.Sorted(maps.Keys(chart.Values)), slices.Sorted(maps.Keys(schema.Properties)))
}
