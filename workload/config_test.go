package workload

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestDistText(t *testing.T) {
	for text, want := range map[string]Dist{
		"20ms":               {Shape: Constant, Mean: 20 * time.Millisecond},
		" 0s ":               {Shape: Constant},
		"uniform 10ms..30ms": {Shape: Uniform, Min: 10 * time.Millisecond, Max: 30 * time.Millisecond},
		"uniform 0s .. 1.5s": {Shape: Uniform, Max: 1500 * time.Millisecond},
		"exp 20ms":           {Shape: Exponential, Mean: 20 * time.Millisecond},
		"exp   1m":           {Shape: Exponential, Mean: time.Minute},
	} {
		got, err := ParseDist(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := ParseDist(got.String()); err != nil || again != got {
			t.Errorf("%q prints as %q, which reads as %+v, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", "20", "-5ms", "uniform", "uniform 20ms", "uniform 30ms..10ms", "uniform -1ms..1ms", "uniform a..b", "exp", "exp -1s", "exp 1s 2s", "normal 20ms", "20ms 30ms"} {
		if d, err := ParseDist(text); err == nil {
			t.Errorf("%q was read as %+v", text, d)
		} else if !strings.Contains(err.Error(), "duration") {
			t.Errorf("%q: unclear error %q", text, err)
		}
	}
}

func TestDistDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for text, want := range map[string]struct{ low, high, mean time.Duration }{
		"20ms":               {20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond},
		"uniform 10ms..30ms": {10 * time.Millisecond, 30 * time.Millisecond, 20 * time.Millisecond},
		"exp 20ms":           {0, 200 * time.Millisecond, 20 * time.Millisecond},
	} {
		d, err := ParseDist(text)
		if err != nil {
			t.Fatal(err)
		}
		const n = 10_000
		var sum time.Duration
		for range n {
			x := d.Draw(rng)
			if x < want.low || x > want.high {
				t.Fatalf("%s drew %v", text, x)
			}
			sum += x
		}
		if mean := sum / n; mean < want.mean*95/100 || mean > want.mean*105/100 {
			t.Errorf("%s: mean %v", text, mean)
		}
	}
	if d := (Dist{}).Draw(rng); d != 0 {
		t.Errorf("the zero Dist drew %v", d)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	good := Config{Keys: 2, TTL: time.Second, Writes: 1}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, breaks := range map[string]func(*Config){
		"keys":      func(c *Config) { c.Keys = 0 },
		"key skew":  func(c *Config) { c.KeySkew = 1 },
		"ttl":       func(c *Config) { c.TTL = 0 },
		"hold":      func(c *Config) { c.Hold = Dist{Shape: "normal"} },
		"think":     func(c *Config) { c.Think.Mean = -1 },
		"writes":    func(c *Config) { c.Writes = 0 },
		"rate":      func(c *Config) { c.Rate = -1 },
		"arrivals":  func(c *Config) { c.Arrivals = "bursty" },
		"backlog":   func(c *Config) { c.Backlog = -1 },
		"wait":      func(c *Config) { c.Wait = -1 },
		"patience":  func(c *Config) { c.Patience = -1 },
		"backoff":   func(c *Config) { c.Backoff = Backoff{Min: 2, Max: 1} },
		"timeout":   func(c *Config) { c.Timeout = -1 },
		"long hold": func(c *Config) { c.LongHold = 1.1 },
		"extend":    func(c *Config) { c.Extend = -0.1 },
		"mode":      func(c *Config) { c.Mode = "shared" },
		"readers":   func(c *Config) { c.Readers = 0.5 },
		"duration":  func(c *Config) { c.Duration = -1 },
		"final":     func(c *Config) { c.Final = -1 },
	} {
		bad := good
		breaks(&bad)
		if err := bad.Validate(); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := (Config{Mode: ModeMulti, Keys: 1, TTL: 1, Writes: 1}).Validate(); err == nil {
		t.Error("mode multi with one key")
	}
}
