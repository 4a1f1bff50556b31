package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"torture": main})
}

// requireAll is the setting that turns every skip into a failure.
const requireAll = "LOCKTORTURE_REQUIRE_ALL"

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "redis":
				return haveRedis(t), nil
			}
			return false, nil
		},
	})
}

// haveRedis reports whether real servers can be started here. Where nothing may
// be skipped, their absence is a failure.
func haveRedis(t *testing.T) bool {
	_, err := exec.LookPath("redis-server")
	if err != nil && os.Getenv(requireAll) == "1" {
		t.Fatalf("%s=1 and redis-server is not here: %v", requireAll, err)
	}
	return err == nil
}
