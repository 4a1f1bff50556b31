package child

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// What a child says of the passwords that it was told is hidden, as they are and as URLs
// have them: in errors, in findings, and in how it died.
func TestPasswordsThatAChildSaysAreHidden(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	const password, escaped = "s3cr3t/wörd", "s3cr3t%2Fw%C3%B6rd"
	node := lockimpl.Node{Addr: "127.0.0.1:1", Username: "kim", Password: password}
	for what, script := range map[string]string{
		"its log":  `echo "cannot connect to $LOCKTORTURE_NODES, ` + password + `" >&2; exit 1`,
		"an error": `read -r line; echo '{"t":"error","re":1,"text":"no ` + password + `, ` + escaped + `"}'; read -r line; read -r line`,
	} {
		_, err := Command{Path: "sh", Args: []string{"-c", script}, Start: time.Minute}.Factory()([]lockimpl.Node{node})
		if err == nil || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), escaped) || !strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
	script := `read -r line; echo '{"t":"init_ok","re":1,"clock":"none"}'; echo "no message ` + escaped + `"; read -r line; echo "` + password + `" >&2; exit 3`
	l, err := Command{Path: "sh", Args: []string{"-c", script}, Start: time.Minute}.Factory()([]lockimpl.Node{node})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = l.Acquire(context.Background(), "k", time.Second)
	p := l.(Process)
	<-l.(*Locker).gone
	if death := p.Died(); death == nil || strings.Contains(death.Error(), password) || !strings.Contains(death.Log, hidden) {
		t.Errorf("its death: %v", death)
	}
	_ = l.Close()
	if told := strings.Join(p.Findings(), "; "); strings.Contains(told, escaped) || !strings.Contains(told, hidden) {
		t.Errorf("findings: %s", told)
	}
}
