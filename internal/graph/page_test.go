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
  var row = function (step) { return document.querySelector('.step[data-step="' + step + '"]'); };
  var steps = function (what) { return [].map.call(document.querySelectorAll(what), function (e) { return e.dataset.step; }).join(" "); };
  try {
    row(20).click();
    seen.row = "chosen " + steps(".step.chosen") + ", near " + steps(".step.near");
    row(20).click();
    seen["row again"] = "chosen " + steps(".step.chosen") + ", near " + steps(".step.near");
    get("find").value = "needle";
    get("find").dispatchEvent(new Event("input"));
    seen.find = "near " + steps(".step.near");
    get("now").click();
    seen.now = "chosen " + steps(".step.chosen");
    var left = Math.min.apply(null, [].map.call(document.querySelectorAll(".step svg"), function (e) { return e.getBoundingClientRect().left; }));
    seen["left of the window"] = left >= 0 ? "nothing" : left;
    seen["page scrolls"] = document.documentElement.scrollWidth <= window.innerWidth ? "no" : "sideways";
    var sign = row(2).querySelector(".at").getBoundingClientRect(), lines = row(2).querySelector("svg").getBoundingClientRect();
    seen["lines as high as the row"] = Math.abs(lines.height - row(2).getBoundingClientRect().height) < 2 ? "yes" : lines.height;
    seen["sign in the row"] = sign.top >= lines.top && sign.bottom <= lines.bottom ? "yes" : sign.top + " to " + sign.bottom;
  } catch (e) { seen.error = String(e); }
  seen.width = window.innerWidth <= 500 ? "narrow" : window.innerWidth;
  document.body.dataset.seen = JSON.stringify(seen);
})();
</script>
</body>`

// TestThePageInABrowser operates the page in a real browser, if there is one: a narrow window, and a workflow of which
// many steps stand side by side.
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
		"--user-data-dir="+filepath.Join(dir, "profile"), "--window-size=390,800", "--dump-dom", "file://"+file)
	c.Env, c.WaitDelay = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, time.Second
	out, err := c.Output()
	m := regexp.MustCompile(`data-seen="([^"]*)"`).FindSubmatch(out)
	if m == nil {
		t.Skipf("skipped: %s does not show a page here: %v", browser, err)
	}
	var seen map[string]string
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &seen))
	assert.Equal(t, map[string]string{
		"row":                      "chosen 20, near 1 2 20 31",
		"row again":                "chosen , near ",
		"find":                     "near 7",
		"now":                      "chosen 2",
		"left of the window":       "nothing",
		"page scrolls":             "no",
		"lines as high as the row": "yes",
		"sign in the row":          "yes",
		"width":                    "narrow",
	}, seen)
}
