package corpus

import "fmt"

// objects returns Kubernetes objects and configuration without secrets.
func objects() []family {
	f := fmt.Sprintf

	return []family{
		{"pod", []func(*random) string{
			func(r *random) string {
				return f("apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s-%s\n  uid: %s\n  labels:\n    pod-template-hash: %s\nspec:\n  serviceAccountName: %s\n  automountServiceAccountToken: true\n  containers:\n  - name: app\n    image: registry.example.com/app@sha256:%s\n    env:\n    - name: DB_PASSWORD\n      valueFrom:\n        secretKeyRef:\n          name: db\n          key: password\n    - name: LOG_FORMAT\n      value: json\n    volumeMounts:\n    - mountPath: /var/run/secrets/kubernetes.io/serviceaccount\n      name: kube-api-access-x7z2p\n      readOnly: true\nstatus:\n  phase: Running\n  podIP: 10.2.3.4\n",
					r.word(), r.from(lower, 5), r.uuid(), r.from(lower, 10), r.word(), r.hex(64))
			},
			func(r *random) string {
				return f(`{"kind":"Pod","metadata":{"name":"%s","uid":"%s"},"spec":{"containers":[{"name":"app","env":[{"name":"API_KEY","valueFrom":{"secretKeyRef":{"name":"api","key":"key"}}}]}],"imagePullSecrets":[{"name":"regcred"}]}}`, r.word(), r.uuid())
			},
		}},
		{"config map", []func(*random) string{
			func(r *random) string {
				return f("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  resourceVersion: \"%s\"\ndata:\n  LOG_LEVEL: info\n  FEATURE_FLAGS: a,b,c\n  settings.yaml: |\n    replicas: 3\n    cache: true\n    endpoint: https://%s/api\n", r.word(), r.digits(8), r.host())
			},
			func(r *random) string {
				return f(`{"apiVersion":"v1","data":{"mode":"primary","greeting":"aGVsbG8gd29ybGQgZnJvbSB0aGUgdGVhbQ=="},"kind":"ConfigMap","metadata":{"name":"%s"}}`, r.word())
			},
		}},
		{"deployment", []func(*random) string{
			func(r *random) string {
				return f("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\n  annotations:\n    deployment.kubernetes.io/revision: \"%d\"\nspec:\n  template:\n    metadata:\n      annotations:\n        checksum/secret: %s\n    spec:\n      imagePullSecrets:\n      - name: regcred\n      volumes:\n      - name: tls\n        secret:\n          secretName: %s-tls\n", r.word(), r.number(99), r.hex(64), r.word())
			},
		}},
		{"rbac and ingress", []func(*random) string{
			func(r *random) string {
				return f("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: %s\nrules:\n- apiGroups: [\"\"]\n  resources: [\"secrets\", \"configmaps\"]\n  verbs: [\"get\", \"list\"]\n", r.word())
			},
			func(r *random) string {
				return f("kind: Ingress\nspec:\n  tls:\n  - hosts:\n    - %s\n    secretName: %s-tls\n", r.host(), r.word())
			},
			func(r *random) string {
				return f("kind: ServiceAccount\nmetadata:\n  name: %s\nsecrets:\n- name: %s-token-%s\n", r.word(), r.word(), r.from(lower, 5))
			},
		}},
		{"kubectl output", []func(*random) string{
			func(r *random) string {
				return f("NAME          TYPE                DATA   AGE\n%s-tls   kubernetes.io/tls   2      40d\ndb            Opaque              3      12d\n", r.word())
			},
			func(r *random) string {
				return f("Name:         db\nNamespace:    %s\nType:         Opaque\n\nData\n====\npassword:  16 bytes\nusername:  5 bytes\n", r.word())
			},
			func(r *random) string {
				return f("Environment:\n  DB_PASSWORD:  <set to the key 'password' in secret 'db'>  Optional: false\n  API_TOKEN:    <set to the key 'token' in secret '%s'>  Optional: true\n", r.word())
			},
			func(r *random) string {
				return f("Warning  FailedMount  3m  kubelet  MountVolume.SetUp failed for volume \"kube-api-access-%s\" : failed to fetch token: serviceaccounts \"%s\" not found", r.from(lower, 5), r.word())
			},
		}},
		{"settings", []func(*random) string{
			func(r *random) string {
				return f("[server]\nport = 8080\nsecret_backend = \"vault\"\ntoken_ttl = \"1h\"\nworkers = %d\n", r.number(64))
			},
			func(r *random) string {
				return f("mcp_servers:\n  %s:\n    transport: {type: http, url: https://%s/mcp}\n    data_masking: {enabled: true, pattern_groups: [security]}\nllm_providers:\n  main: {type: openai, api_key_env: OPENAI_API_KEY}\n", r.word(), r.host())
			},
			func(r *random) string {
				return f("LANG=C.UTF-8\nHOSTNAME=%s-%s\nKUBERNETES_SERVICE_HOST=10.96.0.1\nGPG_KEYSERVER=keys.example.com\nJAVA_HOME=/usr/lib/jvm/java-21\nPYTHON_VERSION=3.13.2\nTOKENIZERS_PARALLELISM=false\n", r.word(), r.from(lower, 5))
			},
		}},
	}
}

// programs returns stack traces, queries and logs.
func programs() []family {
	f := fmt.Sprintf

	return []family{
		{"stack trace", []func(*random) string{
			func(r *random) string {
				return f("panic: runtime error: invalid memory address\n\ngoroutine %d [running]:\nmain.(*TokenStore).Get(0xc%s, {0xc%s, 0x24})\n\t/src/internal/auth/token.go:%d +0x1f4\n", r.number(900), r.hex(9), r.hex(9), r.number(400))
			},
			func(r *random) string {
				return f("java.lang.IllegalStateException: Cannot get password from keystore\n\tat com.example.security.PasswordEncoder.encode(PasswordEncoder.java:%d)\n\tat org.apache.catalina.authenticator.AuthenticatorBase.invoke(AuthenticatorBase.java:543)\n", r.number(300))
			},
			func(r *random) string {
				return f("Traceback (most recent call last):\n  File \"/app/auth/secrets.py\", line %d, in load_secret\n    password = self.client.get_password(name)\nKeyError: 'password'\n", r.number(300))
			},
			func(r *random) string {
				return f("    at Object.getToken (/app/node_modules/@azure/identity/dist/index.js:%d:%d)\n    at async authenticate (/app/src/auth.js:10:5)", r.number(300), r.number(80))
			},
		}},
		{"query", []func(*random) string{
			func(r *random) string {
				return f(`sum by (pod) (rate(container_cpu_usage_seconds_total{namespace="%s",container!=""}[5m])) > 0.9`, r.word())
			},
			func(r *random) string {
				return f(`apiserver_request_total{resource="secrets",verb="LIST",code="403"} %d`, r.number(999))
			},
			func(r *random) string {
				return f(`histogram_quantile(0.99, sum(rate(token_refresh_duration_seconds_bucket{job="%s"}[5m])) by (le))`, r.word())
			},
			func(r *random) string {
				return f("SELECT id, password_hash, token_count FROM users WHERE id = %d AND api_key IS NOT NULL", r.number(9999))
			},
			func(r *random) string {
				return f("UPDATE sessions SET token = $1, secret = $2 WHERE id = $3 -- %s", r.word())
			},
		}},
		{"log", []func(*random) string{
			func(r *random) string {
				return f(`%s - - [15/Nov/2026:05:00:01 +0000] "GET /oauth/token HTTP/1.1" 401 %d "-" "curl/8.5.0"`, "10.0.0.7", r.number(900))
			},
			func(r *random) string {
				return f("%s level=info msg=\"authenticated with token\" user=svc-%s duration=%dms", r.stamp(), r.word(), r.number(90))
			},
			func(r *random) string {
				return f(`{"ts":"%s","level":"error","logger":"controller.secret","msg":"Reconciler error","secret":{"name":"%s-tls","namespace":"prod"},"reconcileID":"%s"}`, r.stamp(), r.word(), r.uuid())
			},
			func(r *random) string {
				return f("I1115 05:00:01.%s       1 leaderelection.go:%d] successfully acquired lease kube-system/%s", r.digits(6), r.number(300), r.word())
			},
			func(r *random) string {
				return f("E1115 06:12:44.%s       7 authentication.go:%d] \"Unable to authenticate the request\" err=\"[invalid bearer token, token lookup failed]\"", r.digits(6), r.number(90))
			},
			func(r *random) string {
				return f("level=warn ts=%s caller=notify.go:%d component=dispatcher receiver=slack integration=slack[0] err=\"context deadline exceeded\"", r.stamp(), r.number(900))
			},
			func(r *random) string {
				return f("OOMKilled: container %s used 512Mi of 512Mi, pid %d (java), oom_score_adj 982", r.word(), r.number(90000))
			},
			func(r *random) string {
				return f("rotated access key for user %s, next rotation in %d days", r.word(), r.number(90))
			},
			func(r *random) string {
				return f("dialing %s:443: tls: failed to verify certificate: x509: certificate has expired or is not yet valid", r.host())
			},
		}},
		{"code", append(once(
			"password := os.Getenv(\"DB_PASSWORD\")", "token, err := client.Token(ctx)", "const apiKey = process.env.API_KEY;", "def get_secret(name: str) -> str:",
			"if token == \"\" { return errNoToken }", "self.password = password", "secret = secrets.get(\"db\")", "headers[\"Authorization\"] = f\"Bearer {token}\"",
			"func NewTokenSource(key *rsa.PrivateKey) TokenSource", "assert response.json()[\"token\"] is not None", "curl -H \"Authorization: Bearer $TOKEN\" https://api.example.com", "mysql -u root -p\"$MYSQL_ROOT_PASSWORD\"",
			"docker login -u ci --password-stdin registry.example.com", "kubectl create secret generic db --from-file=password=./password.txt", "export TOKEN=$(vault kv get -field=token kv/app)", "psql \"host=db-1 user=app password=$PGPASSWORD\"",
			"type Secret struct { Name string; Data map[string][]byte }", "- --api-key=$(API_KEY)", "api_key: ${{ secrets.API_KEY }}", "tokenSource := oauth2.ReuseTokenSource(nil, src)",
		), func(r *random) string {
			return f("for token in tokens[:%d]: print(token.text, token.lemma_)", r.number(50))
		})},
		{"masked already", fixed("password: [MASKED_PASSWORD]", `{"token":"[MASKED_TOKEN]","data":{"a":"[MASKED_SECRET_DATA]"},"kind":"Secret"}`)},
	}
}
