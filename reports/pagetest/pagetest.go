// Package pagetest opens pages in headless Chromium, for tests: as people read them,
// at three widths, light, dark and printed.
package pagetest

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Page is one to look at.
type Page struct {
	Name string
	URL  string
}

// File is the page in a file.
func File(t testing.TB, name, path string) Page {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return Page{name, (&url.URL{Scheme: "file", Path: abs}).String()}
}

// HTML is a page that stands nowhere yet.
func HTML(t testing.TB, name string, html []byte) Page {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, html, 0o600); err != nil {
		t.Fatal(err)
	}
	return File(t, name, path)
}

// patience is what one browser may take for all pages, on two busy processors.
const patience = 8 * time.Minute

// The widths at which a page is read, in CSS pixels: phone, laptop, wide screen.
var widths = []int64{390, 1280, 2200}

//go:embed faults.js
var faults string

// Check opens every page in one browser, and fails the test for each error on the
// console, each request beyond the page's own place, each text that lies over another
// in a figure, and each page that is wider than its window. Without Chromium the test
// is skipped, or fails when nothing may be skipped (LOCKTORTURE_REQUIRE_ALL=1).
// Screenshots go to $LOCKTORTURE_SCREENSHOTS, when that names a folder.
func Check(t *testing.T, pages ...Page) {
	t.Helper()
	ctx := browser(t)
	for _, p := range pages {
		t.Run(p.Name, func(t *testing.T) { look(ctx, t, p) })
	}
}

func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := find()
	if err != nil {
		if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, // a container has none
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits until the browser is gone
	return ctx
}

// find returns the browser.
func find() (string, error) {
	var err error
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		var path string
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium: %w", err)
}

// A witness notes what a page does that it should not.
type witness struct {
	mu    sync.Mutex
	notes []string
}

func (w *witness) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, fmt.Sprintf(format, args...))
}

// drain returns what was noted, and forgets it.
func (w *witness) drain() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.notes
	w.notes = nil
	return out
}

// listen notes errors and requests. home is where the page may ask.
func (w *witness) listen(ctx context.Context, home string) error {
	return chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if o := e.ExceptionDetails.Exception; o != nil {
				text += " " + o.Description
			}
			w.note("the script failed: %s", text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
				w.note("error on the console: %s", said(e.Args))
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				w.note("error on the console: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, home) && !strings.HasPrefix(e.Request.URL, "data:") {
				w.note("it asks the network for %s", e.Request.URL)
			}
		}
	})
}

func said(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		words = append(words, a.Description+string(a.Value))
	}
	return strings.Join(words, " ")
}

// home is what a page may ask for: a file for itself alone, a served one for its server.
func home(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "file" {
		return raw
	}
	return u.Scheme + "://" + u.Host + "/"
}

func look(parent context.Context, t *testing.T, p Page) {
	ctx, cancel := chromedp.NewContext(parent) // a tab
	defer cancel()
	var w witness
	if err := w.open(ctx, p); err != nil {
		t.Fatalf("open %s: %v", p.URL, err)
	}
	for _, v := range views() {
		found, err := v.look(ctx)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		for _, f := range append(w.drain(), found...) {
			t.Errorf("%s: %s", v.name, f)
		}
		if dir := os.Getenv("LOCKTORTURE_SCREENSHOTS"); dir != "" {
			shoot(ctx, t, filepath.Join(dir, strings.ReplaceAll(p.Name+" "+v.name, " ", "-")+".png"))
		}
	}
}

// open opens the page in the tab, and notes what it does.
func (w *witness) open(ctx context.Context, p Page) error {
	if err := w.listen(ctx, home(p.URL)); err != nil {
		return err
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	return chromedp.Do(ctx, chromedp.Navigate(p.URL))
}

// A view is one way to read a page.
type view struct {
	name, media, scheme string
	width               int64
}

func views() (out []view) {
	for _, width := range widths {
		for _, scheme := range []string{"light", "dark"} {
			out = append(out, view{fmt.Sprintf("%d px %s", width, scheme), "screen", scheme, width})
		}
	}
	return append(out, view{"print", "print", "light", 760})
}

// look lays the page out, and returns what is wrong with it.
func (v view) look(ctx context.Context) ([]string, error) {
	_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: v.width, Height: 900, DeviceScaleFactor: 1, Mobile: v.width < 500,
	})
	if err != nil {
		return nil, err
	}
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: v.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}},
	})
	if err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[[]string](faults))
}

func shoot(ctx context.Context, t *testing.T, file string) {
	t.Helper()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(file, png, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}
