package farm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"locktorture/cmd/torture/internal/periodic"
)

// workerVariable, in the environment, makes this test's program a worker of a farm: URL and
// directory, with a comma.
const workerVariable = "FARM_TEST_WORKER"

// workAlone works at a URL in a directory, with a comma between.
func workAlone(of string) int {
	url, dir, _ := strings.Cut(of, ",")
	w := &Worker{
		Access: Access{URL: url}, Name: fmt.Sprintf("process-%d", os.Getpid()), Build: testBuild, Slots: 2, Abilities: []string{"here"}, Dir: dir,
		Gate: open{}, Log: func(line string) { fmt.Println(line) },
	}
	if err := w.Run(context.Background()); err != nil {
		fmt.Println(err)
		return exitHarness
	}
	return 0
}

// started is a worker in a process of its own.
func started(t *testing.T, url string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), workerVariable+"="+url+","+t.TempDir()) // which the test removes: a worker that is killed cannot
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// TestKilledWorker takes as long as a task stays with a worker that says nothing: the
// rounds of a worker that is killed are played by another one, and each has one result.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	url, dir := address(t), t.TempDir()
	c := coordinate(t, dir, url)
	first := started(t, url)
	begun := make(chan error, 2)
	ctx := within(t)
	for n := range 2 { // both slots of the worker are busy when it is killed
		go func() {
			_, err := c.Do(ctx, Task{ID: fmt.Sprintf("lost%d", n), Kind: untilOther, Needs: "here", Body: fmt.Appendf(nil, "%q", filepath.Join(dir, fmt.Sprintf("begun%d", n)))})
			begun <- err
		}()
	}
	for n := range 2 {
		waitFor(t, filepath.Join(dir, fmt.Sprintf("begun%d", n)))
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	started(t, url)
	for range 2 {
		if err := <-begun; err != nil {
			t.Errorf("a task of the worker that was killed: %v", err)
		}
	}
	if got := c.Results(); len(got) != 2 || got[0].Trouble+got[1].Trouble != "" || got[0].Worker == fmt.Sprintf("process-%d", first.Process.Pid) {
		t.Errorf("%+v", got)
	}
	if err := c.Close(ctx, true); err != nil {
		t.Error(err)
	}
}

// TestKilledAfterCallOff: that tasks are called off while another is being played, and
// later ones done, does not take the other out of the queue: it is delivered again when
// its worker is killed.
func TestKilledAfterCallOff(t *testing.T) {
	t.Parallel()
	url, dir := address(t), t.TempDir()
	c := coordinate(t, dir, url)
	first := started(t, url)
	played := filepath.Join(dir, "played")
	done := make(chan error, 1)
	ctx := within(t)
	go func() {
		_, err := c.Do(ctx, Task{ID: "long", Kind: untilOther, Needs: "here", Body: fmt.Appendf(nil, "%q", played)})
		done <- err
	}()
	waitFor(t, played)
	for n := range 8 {
		nobody, cancel := context.WithCancel(ctx)
		called := make(chan error, 1)
		off := filepath.Join(dir, fmt.Sprintf("off%d", n))
		go func() {
			_, err := c.Do(nobody, Task{ID: fmt.Sprintf("off%d", n), Kind: lasts, Needs: "here", Body: fmt.Appendf(nil, "%q", off)})
			called <- err
		}()
		waitFor(t, off)
		cancel()
		if err := <-called; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if answers, err := all(ctx, c, []Task{number(n)}); err != nil || answers[0] != fmt.Sprint(2*n) {
			t.Fatalf("%v, %v", answers, err)
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	started(t, url)
	if err := <-done; err != nil {
		t.Errorf("a task of the worker that was killed: %v", err)
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// TestLateAnswers: a worker to which all that the server says comes late plays every
// task. A task that comes when nobody listens any more would be delivered again and again
// until it counts as one that ends its workers.
func TestLateAnswers(t *testing.T) {
	url, near := address(t), address(t)
	c := coordinate(t, t.TempDir(), url)
	proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), "farm", strings.TrimPrefix(near, "nats://"), strings.TrimPrefix(url, "nats://"))
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	leave := joined(t, near, "far")
	if answers, err := all(within(t), c, []Task{number(1)}); err != nil || answers[0] != "2" {
		t.Fatalf("%v, %v", answers, err)
	}
	late := fmt.Sprintf(`{"name": "late", "type": "latency", "stream": "downstream", "attributes": {"latency": %d}}`, (2*look + look/2).Milliseconds())
	if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(late)); err != nil {
		t.Fatal(err)
	}
	if answers, err := all(within(t), c, []Task{number(2), number(3), number(4)}); err != nil || !slices.Equal(answers, []string{"4", "6", "8"}) {
		t.Errorf("%v, %v", answers, err)
	}
	leave()
	if err := proxy.Toxics.RemoveToxic(t.Context(), "late"); err != nil { // else what it holds back keeps a goroutine
		t.Error(err)
	}
	proxy.Stop()
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for ctx := within(t); ; {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if !periodic.Sleep(ctx, 10*time.Millisecond) {
			t.Fatalf("%s never came", path)
		}
	}
}

// TestSittings: what a coordinator that is no more has handed out is taken in by the
// next one, once each.
func TestSittings(t *testing.T) {
	url, dir := address(t), t.TempDir()
	c := coordinate(t, dir, url)
	leave := joined(t, url, "w")
	if answers, err := all(within(t), c, []Task{number(1), number(2)}); err != nil || !slices.Equal(answers, []string{"2", "4"}) {
		t.Fatalf("%v, %v", answers, err)
	}
	leave()
	if err := c.publish(within(t), Task{Job: c.job, ID: "r000003", Kind: double, Needs: "here", Body: []byte("3")}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(within(t), false); err != nil {
		t.Fatal(err)
	}

	c = coordinate(t, dir, url)
	if !c.resumed || len(c.Results()) != 2 || len(c.Pending()) != 1 || c.Pending()[0].ID != "r000003" {
		t.Errorf("resumed %v, %d results, pending %+v", c.resumed, len(c.Results()), c.Pending())
	}
	defer joined(t, url, "w")()
	again := Task{ID: "r000001", Kind: dies, Needs: "here", Body: []byte("0")} // is not played: it has its result
	answers, err := all(within(t), c, []Task{again, number(3), number(4)})
	if err != nil || !slices.Equal(answers, []string{"2", "6", "8"}) {
		t.Errorf("%v, %v", answers, err)
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// TestOneCoordinator: a job has one, on one machine and on several.
func TestOneCoordinator(t *testing.T) {
	url, dir := address(t), t.TempDir()
	c := coordinate(t, dir, url)
	second := Config{Access: Access{URL: url}, Dir: dir, Build: testBuild}
	if _, err := Open(within(t), second); !errors.Is(err, errOther) {
		t.Errorf("two in one directory: %v", err)
	}
	elsewhere := t.TempDir()
	raw, err := os.ReadFile(filepath.Join(dir, jobFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(elsewhere, jobFile), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	second.Dir = elsewhere
	if _, err := Open(within(t), second); !errors.Is(err, errOther) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("two of one job: %v", err)
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// broker is a server of NATS that is nobody's in particular.
func broker(t *testing.T, dir string, a Access) *server.Server {
	t.Helper()
	s, err := serve(dir, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shutDown(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// TestServerAway: NATS goes away and comes back, and no task is lost.
func TestServerAway(t *testing.T) {
	url, streams, dir := address(t), t.TempDir(), t.TempDir()
	s := broker(t, streams, Access{URL: url})
	c, err := Open(within(t), Config{Access: Access{URL: url}, Dir: dir, Build: testBuild, Log: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	defer joined(t, url, "w")()
	if _, err := all(within(t), c, []Task{number(1)}); err != nil {
		t.Fatal(err)
	}
	shutDown(s)
	type outcome struct {
		answers []string
		err     error
	}
	done := make(chan outcome)
	go func() {
		answers, err := all(within(t), c, []Task{number(2), number(3), number(4)})
		done <- outcome{answers, err}
	}()
	time.Sleep(5 * time.Second) // what the farm must bear: not a condition that is waited for
	s = broker(t, streams, Access{URL: url})
	defer func() { shutDown(s) }()
	if o := <-done; o.err != nil || !slices.Equal(o.answers, []string{"4", "6", "8"}) {
		t.Errorf("%v, %v", o.answers, o.err)
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// TestFullDisk: a stream that takes nothing more ends in an error that says so, and
// what was played before is still there.
func TestFullDisk(t *testing.T) {
	url, dir := address(t), t.TempDir()
	open := func(limit int64) *Coordinator {
		c, err := Open(within(t), Config{
			Access: Access{URL: url}, Serve: true, Dir: dir, Build: testBuild, MaxStore: limit, Patience: 3 * time.Second, Log: func(line string) { t.Log(line) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open(64 << 10)
	leave := joined(t, url, "w")
	if _, err := all(within(t), c, []Task{number(1)}); err != nil {
		t.Fatal(err)
	}
	leave()
	large := Task{Job: c.job, ID: "large", Kind: double, Needs: "here", Body: append(append([]byte{'"'}, bytes.Repeat([]byte("x"), 128<<10)...), '"')}
	if err := c.publish(within(t), large); err != nil { // the one that fills it up
		t.Fatal(err)
	}
	large.ID = "another"
	if _, err := c.Do(within(t), large); err == nil || !strings.Contains(err.Error(), "room on its disk") {
		t.Errorf("%v", err)
	}
	if err := c.Close(within(t), false); err != nil {
		t.Fatal(err)
	}
	c = open(0)
	if r := c.Results(); len(r) != 1 || string(r[0].Body) != "2" {
		t.Errorf("%+v", r)
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// TestCalledOff: a task that nobody waits for any more ends at its worker, and leaves
// no result.
func TestCalledOff(t *testing.T) {
	url := address(t)
	c := coordinate(t, t.TempDir(), url)
	defer joined(t, url, "w")()
	ctx, cancel := context.WithCancel(t.Context())
	at := filepath.Join(t.TempDir(), "begun")
	done := make(chan error)
	go func() {
		_, err := c.Do(ctx, Task{ID: "x", Kind: lasts, Needs: "here", Body: fmt.Appendf(nil, "%q", at)})
		done <- err
	}()
	waitFor(t, at)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	waitFor(t, at+".off")
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// TestSecrets: who shows the wrong token is refused, and no text holds a right or wrong
// one.
func TestSecrets(t *testing.T) {
	url := address(t)
	host := strings.TrimPrefix(url, "nats://")
	var said []string
	say := func(line string) { said = append(said, line) }
	for _, secret := range []string{"tok3n", "user:passw0rd"} {
		right := Access{URL: "nats://" + secret + "@" + host}
		c, err := Open(within(t), Config{Access: right, Serve: true, Dir: t.TempDir(), Build: testBuild, Log: say})
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []string{"", "wr0ng@", "user:wr0ng@"} {
			_, err := Open(within(t), Config{Access: Access{URL: "nats://" + wrong + host}, Dir: t.TempDir(), Build: testBuild, Log: say})
			if err == nil {
				t.Errorf("%q was let in", wrong)
			}
			w := &Worker{Access: Access{URL: "nats://" + wrong + host}, Name: "w", Build: testBuild, Slots: 1, Abilities: []string{"here"}, Gate: open{}, Log: func(string) {}}
			if workerErr := w.Run(within(t)); workerErr == nil || !strings.Contains(workerErr.Error(), "uthorization") {
				t.Errorf("a worker with %q: %v", wrong, workerErr)
			} else {
				said = append(said, workerErr.Error())
			}
			said = append(said, fmt.Sprint(err))
		}
		said = append(said, right.String(), fmt.Sprint(right))
		if err := c.Close(within(t), true); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"http://user:passw0rd@host", "nats://user:passw0rd@", "nats://user:passw0rd@host:70000", "nats://user:passw0rd@host/x"} {
		said = append(said, fmt.Sprint(Access{URL: bad}.Validate()))
	}
	for _, secret := range []string{"tok3n", "passw0rd", "wr0ng"} {
		if strings.Contains(strings.Join(said, "\n"), secret) {
			t.Errorf("%s is in\n%s", secret, strings.Join(said, "\n"))
		}
	}
}

// TestTokenVariable: the token of the environment opens the farm for who has it.
func TestTokenVariable(t *testing.T) {
	url := address(t)
	t.Setenv(TokenVariable, "tok3n")
	c := coordinate(t, t.TempDir(), url)
	leave := joined(t, url, "w")
	if answers, err := all(within(t), c, []Task{number(1)}); err != nil || answers[0] != "2" {
		t.Errorf("%v, %v", answers, err)
	}
	leave()
	t.Setenv(TokenVariable, "")
	if _, err := Open(within(t), Config{Access: Access{URL: url}, Dir: t.TempDir(), Build: testBuild}); err == nil {
		t.Error("let in without a token")
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// TestTLS: a farm at tls:// asks workers for a certificate where it knows who signs
// them.
func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	a := Access{URL: strings.Replace(address(t), "nats://", "tls://", 1), CA: cert, Cert: cert, Key: key}
	c, err := Open(within(t), Config{Access: a, Serve: true, Dir: t.TempDir(), Build: testBuild, Log: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{Access: a, Name: "w", Build: testBuild, Slots: 1, Abilities: []string{"here"}, Dir: t.TempDir(), Gate: open{}, Log: func(line string) { t.Log(line) }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	if answers, err := all(within(t), c, []Task{number(1)}); err != nil || answers[0] != "2" {
		t.Errorf("%v, %v", answers, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, wrong := range []Access{{URL: a.URL}, {URL: a.URL, CA: cert}, {URL: strings.Replace(a.URL, "tls", "nats", 1)}} {
		if _, err := Open(within(t), Config{Access: wrong, Dir: t.TempDir(), Build: testBuild}); err == nil {
			t.Errorf("%+v was let in", wrong)
		}
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// certificate writes one for this machine, which signs itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	err = errors.Join(
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// TestIdle: a worker that is told so ends when there is no farm, and when a farm has
// nothing to play.
func TestIdle(t *testing.T) {
	url := address(t)
	w := &Worker{Access: Access{URL: url}, Name: "w", Build: testBuild, Slots: 1, Abilities: []string{"here"}, Dir: t.TempDir(), Gate: open{}, Idle: time.Second, Log: func(line string) { t.Log(line) }}
	if err := w.Run(within(t)); err != nil {
		t.Error(err)
	}
	c := coordinate(t, t.TempDir(), url)
	if err := w.Run(within(t)); err != nil {
		t.Error(err)
	}
	if err := c.Close(within(t), true); err != nil {
		t.Error(err)
	}
}

// TestAccess names what is wrong with an address.
func TestAccess(t *testing.T) {
	for url, want := range map[string]string{
		"":                       "want nats://host:4222",
		"host:4222":              "no URL such as nats://host:4222|want nats://host:4222",
		"http://host":            "want nats://host:4222",
		"nats://host:0":          "a port is 1 to 65535",
		"nats://host:4222/a":     "nothing may follow the port",
		"nats://host":            "",
		"nats://a:4222,tls://b":  "",
		"nats://t@127.0.0.1:422": "",
	} {
		err := Access{URL: url}.Validate()
		ok := want == "" && err == nil
		for part := range strings.SplitSeq(want, "|") {
			ok = ok || want != "" && err != nil && strings.Contains(err.Error(), part)
		}
		if !ok {
			t.Errorf("%q: %v, want %s", url, err, want)
		}
	}
	for url, isOpen := range map[string]bool{"nats://0.0.0.0": true, "nats://127.0.0.1": false, "nats://localhost": false, "nats://t@0.0.0.0": false} {
		if got := (Access{URL: url}).IsOpen(); got != isOpen {
			t.Errorf("%s open: %v", url, got)
		}
	}
}
