// Package deploy checks the files in deploy/ against the program: that Kubernetes and Compose
// would accept them, and that settings, ports and health pages exist. No container is started.
package deploy

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/cli/admin"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/web"
)

const (
	folder = "../../deploy"
	base   = folder + "/kubernetes/base"
	user   = int64(65532) // of the image
	// backgroundGrace is how long background work may take to end after the last request.
	backgroundGrace = 15 * time.Second
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decode decodes a YAML document and rejects unknown fields.
func decode[T any](t *testing.T, name string) (object T) {
	t.Helper()
	if err := yaml.UnmarshalStrict(read(t, name), &object); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return object
}

// kustomization has the fields that our files use.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace"`
	Resources  []string `json:"resources"`
	Labels     []struct {
		Pairs            map[string]string `json:"pairs"`
		IncludeSelectors bool              `json:"includeSelectors"`
		IncludeTemplates bool              `json:"includeTemplates"`
	} `json:"labels"`
	ConfigMapGenerator []struct {
		Name     string   `json:"name"`
		Behavior string   `json:"behavior"`
		Files    []string `json:"files"`
	} `json:"configMapGenerator"`
	Images []struct {
		Name    string `json:"name"`
		NewName string `json:"newName"`
		NewTag  string `json:"newTag"`
	} `json:"images"`
	Replicas []struct {
		Name  string `json:"name"`
		Count int    `json:"count"`
	} `json:"replicas"`
	Patches []struct {
		Path string `json:"path"`
	} `json:"patches"`
}

func TestKubernetes_ManifestsDecodeStrictlyAndAreUsed(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(t *testing.T, name string){
		"Deployment":          func(t *testing.T, name string) { t.Helper(); decode[appsv1.Deployment](t, name) },
		"Service":             func(t *testing.T, name string) { t.Helper(); decode[corev1.Service](t, name) },
		"ServiceAccount":      func(t *testing.T, name string) { t.Helper(); decode[corev1.ServiceAccount](t, name) },
		"PodDisruptionBudget": func(t *testing.T, name string) { t.Helper(); decode[policyv1.PodDisruptionBudget](t, name) },
		"NetworkPolicy":       func(t *testing.T, name string) { t.Helper(); decode[networkingv1.NetworkPolicy](t, name) },
		"Ingress":             func(t *testing.T, name string) { t.Helper(); decode[networkingv1.Ingress](t, name) },
	}
	for _, place := range []string{base, folder + "/kubernetes/overlays/example"} {
		list := decode[kustomization](t, place+"/kustomization.yaml")
		used := []string{"kustomization.yaml"}
		used = append(used, list.Resources...)
		for _, patch := range list.Patches {
			used = append(used, patch.Path)
		}
		for _, generated := range list.ConfigMapGenerator {
			used = append(used, generated.Files...)
		}
		for _, name := range used {
			if _, err := os.Stat(filepath.Join(place, name)); err != nil {
				t.Error(err)
			}
		}
		entries, err := os.ReadDir(place)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if !slices.Contains(used, entry.Name()) {
				t.Errorf("%s/%s is not used", place, entry.Name())
			}
			if path.Ext(entry.Name()) != ".yaml" || entry.Name() == "kustomization.yaml" {
				continue
			}
			var head struct{ Kind string }
			if err := yaml.Unmarshal(read(t, filepath.Join(place, entry.Name())), &head); err != nil {
				t.Fatal(err)
			}
			check, known := kinds[head.Kind]
			if !known {
				t.Fatalf("%s has the kind %q", entry.Name(), head.Kind)
			}
			check(t, filepath.Join(place, entry.Name()))
		}
	}
}

func TestKubernetes_PodIsRestrictedAndFitsTheProgram(t *testing.T) {
	t.Parallel()
	pod := decode[appsv1.Deployment](t, base+"/deployment.yaml").Spec.Template.Spec
	container := pod.Containers[0]
	restricted := corev1.SecurityContext{
		AllowPrivilegeEscalation: new(bool), ReadOnlyRootFilesystem: ptr(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	if !reflect.DeepEqual(container.SecurityContext, &restricted) {
		t.Errorf("the container's security context is %+v", container.SecurityContext)
	}
	if s := pod.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser != user || *s.RunAsGroup != user || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod's security context is %+v", s)
	}
	if *pod.AutomountServiceAccountToken || *decode[corev1.ServiceAccount](t, base+"/serviceaccount.yaml").AutomountServiceAccountToken {
		t.Error("the pod has a token for the cluster")
	}
	if *pod.EnableServiceLinks {
		t.Error("variables of services, such as DOTKONTOR_PORT, are not settings")
	}
	mounts := make(map[string]string) // by volume
	for _, mount := range container.VolumeMounts {
		mounts[mount.Name] = mount.MountPath
	}
	for _, volume := range pod.Volumes {
		if mounts[volume.Name] == "" {
			t.Errorf("the volume %s is not mounted", volume.Name)
		}
	}
	var environment []string
	secrets := read(t, folder+"/kubernetes/overlays/example/kustomization.yaml")
	for _, variable := range container.Env {
		environment = append(environment, variable.Name+"="+variable.Value)
		if !strings.HasSuffix(variable.Name, "_FILE") {
			continue
		}
		if path.Dir(variable.Value) != mounts["secrets"] || !bytes.Contains(secrets, []byte("--from-file="+path.Base(variable.Value))) {
			t.Errorf("%s=%s is no file of the Secret that the example creates", variable.Name, variable.Value)
		}
	}
	if !slices.Equal(container.Args, []string{"serve", "--config", mounts["config"] + "/dotkontor.toml"}) {
		t.Errorf("the arguments are %q", container.Args)
	}
	cfg := loadConfig(t, base+"/dotkontor.toml", environment, map[string]string{
		"database-url": "postgres://dotkontor:password@db.example:5432/dotkontor?sslmode=verify-full", "shared-url": "rediss://:password@redis.example:6379/0",
	})
	if cfg.Data != mounts["data"] {
		t.Errorf("the data folder %s is not writable", cfg.Data)
	}
	ports := make(map[string]string)
	for _, port := range container.Ports {
		ports[port.Name] = net.JoinHostPort("0.0.0.0", strconv.Itoa(int(port.ContainerPort)))
	}
	if ports["http"] != cfg.Server.Listen || ports["private"] != cfg.Server.MetricsListen {
		t.Errorf("the program listens on %s and %s, the ports are %v", cfg.Server.Listen, cfg.Server.MetricsListen, ports)
	}
	if service := decode[corev1.Service](t, base+"/service.yaml"); ports[service.Spec.Ports[0].TargetPort.StrVal] != cfg.Server.Listen {
		t.Errorf("the service leads to the port %s", service.Spec.Ports[0].TargetPort.StrVal)
	}
	for name, probe := range map[string]*corev1.Probe{"startup": container.StartupProbe, "readiness": container.ReadinessProbe, "liveness": container.LivenessProbe} {
		if probe.HTTPGet.Port.StrVal != "private" || !servesHealth(probe.HTTPGet.Path) {
			t.Errorf("the %s probe asks %s on %s", name, probe.HTTPGet.Path, probe.HTTPGet.Port.StrVal)
		}
	}
	wantGrace(t, cfg, time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second)
	noticed := time.Duration(container.ReadinessProbe.PeriodSeconds*container.ReadinessProbe.FailureThreshold) * time.Second
	if time.Duration(cfg.Server.DrainDelay) <= noticed {
		t.Errorf("a draining pod is noticed after %s, and stops after %s", noticed, time.Duration(cfg.Server.DrainDelay))
	}
	loadConfig(t, folder+"/kubernetes/overlays/example/dotkontor.toml", environment, map[string]string{
		"database-url": "postgres://dotkontor:password@db.example:5432/dotkontor?sslmode=verify-full", "shared-url": "rediss://:password@redis.example:6379/0",
	})
}

func TestKubernetes_LabelsSelectThePods(t *testing.T) {
	t.Parallel()
	deployment := decode[appsv1.Deployment](t, base+"/deployment.yaml")
	labels := deployment.Spec.Template.Labels
	for name, selector := range map[string]map[string]string{
		"deployment": deployment.Spec.Selector.MatchLabels, "service": decode[corev1.Service](t, base+"/service.yaml").Spec.Selector,
		"budget": decode[policyv1.PodDisruptionBudget](t, base+"/poddisruptionbudget.yaml").Spec.Selector.MatchLabels,
		"policy": decode[networkingv1.NetworkPolicy](t, base+"/networkpolicy.yaml").Spec.PodSelector.MatchLabels,
		"spread": deployment.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
	} {
		if !reflect.DeepEqual(selector, labels) {
			t.Errorf("the %s selects %v, the pods have %v", name, selector, labels)
		}
	}
}

func TestKubernetes_PolicyAllowsOnlyWhatTheServiceNeeds(t *testing.T) {
	t.Parallel()
	policy := decode[networkingv1.NetworkPolicy](t, base+"/networkpolicy.yaml").Spec
	if !slices.Equal(policy.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}) {
		t.Errorf("the policy is for %v", policy.PolicyTypes)
	}
	var in []string
	for _, rule := range policy.Ingress {
		if len(rule.From) == 0 {
			t.Error("a rule lets everyone in")
		}
		for _, port := range rule.Ports {
			in = append(in, port.Port.String())
		}
	}
	if !slices.Equal(in, []string{"http", "private"}) {
		t.Errorf("open ports: %q", in)
	}
	var out []string
	for _, rule := range policy.Egress {
		if len(rule.To) == 0 || len(rule.Ports) == 0 {
			t.Error("a rule has no destination or no port")
		}
		for _, port := range rule.Ports {
			out = append(out, port.Port.String())
		}
	}
	// DNS, PostgreSQL, Redis, WHOIS, HTTPS, mail, EPP.
	if !slices.Equal(out, []string{"53", "53", "5432", "6379", "43", "443", "587", "700"}) {
		t.Errorf("ports of other systems: %q", out)
	}
}

// compose has the fields of a Compose file that ours uses.
type compose struct {
	Name     string                     `json:"name"`
	Services map[string]service         `json:"services"`
	Networks map[string]json.RawMessage `json:"networks"`
	Volumes  map[string]struct{}        `json:"volumes"`
	Configs  map[string]fileSource      `json:"configs"`
	Secrets  map[string]fileSource      `json:"secrets"`
}

type fileSource struct {
	File string `json:"file"`
}

type service struct {
	Image           string            `json:"image"`
	Build           map[string]string `json:"build"`
	User            string            `json:"user"`
	Command         []string          `json:"command"`
	Environment     map[string]string `json:"environment"`
	Secrets         []string          `json:"secrets"`
	Configs         []mountedConfig   `json:"configs"`
	Ports           []string          `json:"ports"`
	Volumes         []string          `json:"volumes"`
	Tmpfs           []string          `json:"tmpfs"`
	Networks        []string          `json:"networks"`
	ReadOnly        bool              `json:"read_only"`
	CapDrop         []string          `json:"cap_drop"`
	SecurityOpt     []string          `json:"security_opt"`
	Restart         string            `json:"restart"`
	StopGracePeriod string            `json:"stop_grace_period"`
	Healthcheck     healthcheck       `json:"healthcheck"`
	DependsOn       any               `json:"depends_on"`
}

type mountedConfig struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

type healthcheck struct {
	Test        []string `json:"test"`
	Interval    string   `json:"interval"`
	Timeout     string   `json:"timeout"`
	StartPeriod string   `json:"start_period"`
	Retries     int      `json:"retries"`
}

func readCompose(t *testing.T) (file compose) {
	t.Helper()
	var all map[string]json.RawMessage
	if err := yaml.Unmarshal(read(t, folder+"/compose.yml"), &all); err != nil {
		t.Fatal(err)
	}
	for key := range all {
		if strings.HasPrefix(key, "x-") { // merged into the services
			delete(all, key)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCompose_ServicesAreRestrictedAndNamesResolve(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	for name, s := range file.Services {
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) {
			t.Errorf("%s is not restricted: %+v", name, s)
		}
		if len(s.Healthcheck.Test) < 2 || s.Healthcheck.Test[0] != "CMD" {
			t.Errorf("%s has no health check", name)
		}
		for _, secret := range s.Secrets {
			if !strings.HasPrefix(file.Secrets[secret].File, "compose/secrets/") {
				t.Errorf("%s: the secret %s is in %q", name, secret, file.Secrets[secret].File)
			}
		}
		for _, c := range s.Configs {
			read(t, filepath.Join(folder, file.Configs[c.Source].File))
		}
		for _, network := range s.Networks {
			if _, found := file.Networks[network]; !found {
				t.Errorf("%s: there is no network %s", name, network)
			}
		}
		for _, volume := range s.Volumes {
			place, _, _ := strings.Cut(volume, ":")
			if _, found := file.Volumes[place]; !found {
				t.Errorf("%s: there is no volume %s", name, place)
			}
		}
		for variable, value := range s.Environment {
			if strings.HasSuffix(variable, "_FILE") && !slices.Contains(s.Secrets, strings.TrimPrefix(value, "/run/secrets/")) {
				t.Errorf("%s: %s=%s is no secret of the service", name, variable, value)
			}
		}
	}
}

func TestCompose_NodesFitTheProgramAndTheBalancer(t *testing.T) {
	t.Parallel()
	file := readCompose(t)
	balancer, scraper := string(read(t, folder+"/compose/haproxy.cfg")), string(read(t, folder+"/compose/prometheus.yml"))
	for _, name := range []string{"node1", "node2", "node3"} {
		s := file.Services[name]
		if s.User != "65532:65532" || !slices.Equal(s.Command, []string{"serve", "--config", s.Configs[0].Target}) {
			t.Errorf("%s runs %q as %s", name, s.Command, s.User)
		}
		var environment []string
		for variable, value := range s.Environment {
			environment = append(environment, variable+"="+value)
		}
		cfg := loadConfig(t, folder+"/compose/dotkontor.toml", environment, map[string]string{
			"database_url": "postgres://dotkontor:password@postgres:5432/dotkontor", "shared_url": "redis://:password@redis:6379/0",
		})
		if !slices.Contains(s.Volumes, name+":"+cfg.Data) {
			t.Errorf("%s has no volume of its own for %s: %q", name, cfg.Data, s.Volumes)
		}
		grace, err := time.ParseDuration(s.StopGracePeriod)
		if err != nil {
			t.Fatal(err)
		}
		wantGrace(t, cfg, grace)
		_, public, _ := net.SplitHostPort(cfg.Server.Listen)
		_, private, _ := net.SplitHostPort(cfg.Server.MetricsListen)
		if !strings.Contains(balancer, "server "+name+" "+name+":"+public+"\n") || !strings.Contains(balancer, "check port "+private+" ") || !strings.Contains(scraper, name+":"+private) {
			t.Errorf("HAProxy or Prometheus does not use the ports %s and %s of %s", public, private, name)
		}
		if want := []string{"CMD", "/usr/local/bin/dotkontor", "doctor", "--ready", "http://127.0.0.1:" + private}; !slices.Equal(s.Healthcheck.Test, want) {
			t.Errorf("the health check of %s is %q", name, s.Healthcheck.Test)
		}
	}
	if !servesHealth("/readyz") || !strings.Contains(balancer, "uri /readyz") {
		t.Error("HAProxy does not ask /readyz")
	}
}

// loadConfig loads a configuration as a container does. secrets are the content of files by name;
// others have a valid value. It also runs "config check", on an empty SQLite database.
func loadConfig(t *testing.T, file string, environment []string, secrets map[string]string) config.Config {
	t.Helper()
	mounted := t.TempDir()
	values := map[string]string{
		"secret_key": config.NewKey(), "stripe_secret_key": "sk_test_0123456789abcdef", "stripe_webhook_secrets": "whsec_0123456789abcdef",
		"mail_password": "password", "epp_password": "password", "additional_secret_keys": "",
	}
	for name, value := range values {
		for _, spelling := range []string{name, strings.ReplaceAll(name, "_", "-")} {
			writeSecret(t, filepath.Join(mounted, spelling), value)
		}
	}
	for name, value := range secrets {
		writeSecret(t, filepath.Join(mounted, name), value)
	}
	replace := strings.NewReplacer("/run/secrets/dotkontor/", mounted+"/", "/run/secrets/", mounted+"/").Replace
	text := replace(string(read(t, file)))
	local := filepath.Join(t.TempDir(), "dotkontor.toml")
	writeSecret(t, local, text)
	var settings, offline []string
	for _, variable := range environment {
		settings = append(settings, replace(variable))
		if name, _, _ := strings.Cut(variable, "="); name != "DOTKONTOR_DATABASE_URL_FILE" && name != "DOTKONTOR_DATA" {
			offline = append(offline, replace(variable))
		}
	}
	cfg, err := config.Load(local, settings)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if cfg.Database.URL == "" || cfg.SecretKey == "" || cfg.Stripe.SecretKey == "" || len(cfg.Stripe.WebhookSecrets) != 1 || cfg.Mail.Password == "" || cfg.EPP[0].Password == "" {
		t.Errorf("%s: a secret is missing", file)
	}
	var commands struct {
		Config admin.ConfigCommand `cmd:""`
	}
	var out bytes.Buffer
	if code := cli.Run(t.Context(), &commands, []string{"config", "check", local}, append(offline, "DOTKONTOR_DATA="+t.TempDir()), strings.NewReader(""), &out, &out); code != cli.ExitOK {
		t.Errorf("config check of %s:\n%s", file, &out)
	}
	return cfg
}

func writeSecret(t *testing.T, name, value string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// servesHealth reports whether the private port answers a path.
func servesHealth(path string) bool {
	mux := http.NewServeMux()
	web.Health(mux, func() bool { return true }, func() []web.Degraded { return nil })
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return answer.Code == http.StatusOK
}

// wantGrace checks that the platform waits until the service has drained.
func wantGrace(t *testing.T, cfg config.Config, grace time.Duration) {
	t.Helper()
	if needed := time.Duration(cfg.Server.DrainDelay) + time.Duration(cfg.Server.DrainTimeout) + backgroundGrace; grace < needed {
		t.Errorf("the service is killed after %s, and may need %s", grace, needed)
	}
}

func ptr[T any](value T) *T { return &value }
