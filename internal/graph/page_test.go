package graph

import (
	"context"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operate uses the page as a person does, and leaves what is seen in an attribute of the body.
const operate = `<script>
(function () {
  var seen = {}, get = function (id) { return document.getElementById(id); };
  var box = function (of, step) { return get(of).querySelector('.box[data-step="' + step + '"]'); };
  var steps = function (what) { return [].map.call(document.querySelectorAll(what), function (e) { return e.dataset.step; }).join(" "); };
  var click = function (e) { e.dispatchEvent(new MouseEvent("click", { bubbles: true })); };
  var drawn = function () { return get("folded").hasAttribute("hidden") ? "whole" : "folded"; };
  try {
    seen.opens = drawn() + ", " + get("unfold").textContent;
    click(box("folded", 3));
    seen["folded box"] = drawn() + ", " + get("unfold").textContent + ", chosen " + steps(".box.chosen") + ", near " + steps(".box.near");
    click(get("unfold"));
    seen.fold = drawn() + ", " + get("unfold").textContent + ", chosen " + steps(".box.chosen");
    click(document.querySelector('tr[data-step="20"]'));
    seen.row = drawn() + ", chosen " + steps(".box.chosen") + ", " + steps("tr.chosen") + ", near " + steps(".box.near");
    get("find").value = "needle";
    get("find").dispatchEvent(new Event("input"));
    seen.find = "near " + steps(".box.near") + ", rows " + steps('tbody tr:not([style*="none"])');
    get("find").value = "";
    get("find").dispatchEvent(new Event("input"));
    seen["find nothing"] = "near " + steps(".box.near") + ", rows " + document.querySelectorAll('tbody tr:not([style*="none"])').length;
    get("fit").onclick();
    var before = get("whole").getBoundingClientRect().width;
    get("in").onclick();
    seen.zoom = get("whole").getBoundingClientRect().width > before ? "larger" : "not larger";
    click(get("now"));
    seen.now = "chosen " + steps(".box.chosen");
    get("fit").onclick();
    var b = box("whole", 2).getBoundingClientRect();
    seen["in view"] = b.left >= 0 && b.right <= window.innerWidth ? "yes" : b.left + " to " + b.right;
    seen["page scrolls"] = document.documentElement.scrollWidth <= window.innerWidth ? "no" : "sideways";
  } catch (e) { seen.error = String(e); }
  document.body.dataset.seen = JSON.stringify(seen);
})();
</script>
</body>`

// TestThePageInABrowser operates the page in a real browser, if there is one: a step of which many
// stand side by side, so that the drawing is wider than the window.
func TestThePageInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("skipped: no chromium, chromium-browser or google-chrome is on PATH")
	}
	all := []Step{{ID: 1, Subject: "Plan", State: Done}, {ID: 2, Subject: "Begin", State: InProgress, BlockedBy: []int64{1}}}
	last := Step{ID: 31, Subject: "End"}
	for id := int64(3); id <= 30; id++ {
		s := Step{ID: id, Subject: "Part", BlockedBy: []int64{2}}
		if id == 7 {
			s.Subject = "Needle"
		}
		all, last.BlockedBy = append(all, s), append(last.BlockedBy, id)
	}
	dir, err := os.MkdirTemp("", "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // not t.TempDir: a process of the browser may outlive it for a moment
	file := filepath.Join(dir, "page.html")
	text := strings.Replace(New("w", append(all, last)).HTML(), "</body>", operate, 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--window-size=500,800", "--dump-dom", "file://"+file)
	c.Env, c.WaitDelay = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, time.Second
	out, err := c.Output()
	m := regexp.MustCompile(`data-seen="([^"]*)"`).FindSubmatch(out)
	if m == nil {
		t.Skipf("skipped: %s does not show a page here: %v", browser, err)
	}
	var seen map[string]string
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &seen))
	assert.Equal(t, map[string]string{
		"opens":        "folded, Unfold all",
		"folded box":   "whole, Fold, chosen 3, near 1 2 3 31",
		"fold":         "folded, Unfold all, chosen ",
		"row":          "whole, chosen 20, 20, near 1 2 20 31",
		"find":         "near 7, rows 7",
		"find nothing": "near , rows 31",
		"zoom":         "larger",
		"now":          "chosen 2",
		"in view":      "yes",
		"page scrolls": "no",
	}, seen)
}
