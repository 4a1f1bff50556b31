package pagetest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const wrong = `<!doctype html><title>wrong</title><script>console.error("oh"); throw new Error("dear")</script>
<img src="http://192.0.2.1/x.png"><div style="width: 3000px">wide</div>
<svg viewBox="0 0 100 50" width="100%"><title>figure</title><text x="10" y="20">one label</text><text x="12" y="21">another</text></svg>`

// A page on which everything is wrong shows that the checks can fail.
func TestWhatIsWrongIsSeen(t *testing.T) {
	ctx, cancel := chromedp.NewContext(browser(t))
	defer cancel()
	p := HTML(t, "wrong", []byte(wrong))
	var w witness
	if err := w.open(ctx, p); err != nil {
		t.Fatal(err)
	}
	found, err := views()[0].look(ctx)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(append(w.drain(), found...), "\n")
	for _, want := range []string{"oh", "dear", "asks the network for http://192.0.2.1/x.png", "px wide in a window of", `"one label" and "another" overlap`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among\n%s", want, all)
		}
	}
}

func TestWhatIsRightIsNot(t *testing.T) {
	Check(t, HTML(t, "right", []byte(`<!doctype html><title>right</title><p>fine</p><svg viewBox="0 0 100 50" width="100%"><text x="10" y="20" font-size="5">one</text></svg>`)))
}
