package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

const begin, end = `<svg xmlns="http://www.w3.org/2000/svg">`, `</svg>`

func TestCleanKeepsDrawings(t *testing.T) {
	for source, want := range map[string]string{
		`<svg width="360" height="225" viewBox="0 0 3600 2250" xmlns="http://www.w3.org/2000/svg"/>`: `<svg xmlns="http://www.w3.org/2000/svg" width="360" height="225" viewBox="0 0 3600 2250"></svg>`,
		begin + `<path d="M1.5,2 L-3e-5 4z" fill="rgb(1,2,3)" stroke="#fff"/>` + end:                 begin + `<path d="M1.5,2 L-3e-5 4z" fill="rgb(1,2,3)" stroke="#fff"></path>` + end,
		begin + `<g transform="translate(1,2) rotate(45)"><circle r="1"/></g>` + end:                 begin + `<g transform="translate(1,2) rotate(45)"><circle r="1"></circle></g>` + end,
		begin + `<text font-family="monospace, 'Times'">a &lt; b &amp; "c"</text>` + end:             begin + `<text font-family="monospace, 'Times'">a &lt; b &amp; &quot;c&quot;</text>` + end,
		begin + `<text style="fill: red; background:url(x); font-size:3px">α</text>` + end:           begin + `<text style="fill:red;font-size:3px">α</text>` + end,
		begin + `<image href="data:image/png;base64,iVBORw0KGgo=" width="2"/>` + end:                 begin + `<image href="data:image/png;base64,iVBORw0KGgo=" width="2"></image>` + end,
		begin + `<image xlink:href="data:image/png;base64,iVBORw0KGgo="/>` + end:                     begin + `<image href="data:image/png;base64,iVBORw0KGgo="></image>` + end,
		begin + `<!-- note --><?pi x?><title>t</title>` + end:                                        begin + `<title>t</title>` + end,
	} {
		got, err := Clean([]byte(source))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", source, got, err, want)
		}
	}
}

func TestCleanLeavesOut(t *testing.T) {
	for _, part := range []string{
		`<script>alert(1)</script>`, `<SCRIPT>x</SCRIPT>`, `<svg:script xmlns:svg="http://www.w3.org/2000/svg">x</svg:script>`,
		`<style>*{background:url(http://x)}</style>`, `<foreignObject><iframe src="http://x"/></foreignObject>`,
		`<a href="javascript:alert(1)"><text>x</text></a>`, `<use href="http://x#a"/>`, `<use href="#a"/>`,
		`<animate attributeName="href" values="javascript:x"/>`, `<set attributeName="onload" to="x"/>`,
		`<filter id="f"/>`, `<pattern id="p"/>`, `<mask/>`, `<clipPath/>`, `<linearGradient id="l"/>`, `<iframe/>`, `<script/>`, `<video src="x"/>`,
		`<html:script xmlns:html="http://www.w3.org/1999/xhtml">x</html:script>`,
	} {
		if got, err := Clean([]byte(begin + part + end)); err != nil || string(got) != begin+end {
			t.Errorf("%s: %s, %v", part, got, err)
		}
	}
	for _, attribute := range []string{
		`onload="x"`, `onclick="x"`, `ONLOAD="x"`, `href="http://x"`, `xlink:href="http://x"`, `src="x"`, `id="a"`, `class="a"`,
		`fill="url(http://x)"`, `fill="URL (#a)"`, `fill="u&#x72;l(#a)"`, `stroke="javascript:x"`, `style="fill:url(#a)"`,
		`style="fill:\75rl(#a)"`, `style="behavior:x"`, `style="background:red"`, `style="@import 'x'"`, `style="font-family:expression(x)"`,
		`filter="url(#f)"`, `clip-path="url(#c)"`, `xml:base="http://x"`, `xmlns:x="http://x"`, `transform="&lt;x"`, `mask="x"`, `cursor="url(x)"`,
	} {
		if got, err := Clean([]byte(begin + "<rect " + attribute + "/>" + end)); err != nil || string(got) != begin+"<rect></rect>"+end {
			t.Errorf("%s: %s, %v", attribute, got, err)
		}
	}
	for _, href := range []string{"http://x/y.png", "data:image/svg+xml;base64,PHN2Zy8+", "data:text/html;base64,PHN2Zy8+", "data:image/png;base64,%%", "//x", "data:image/png,x"} {
		if got, err := Clean([]byte(begin + `<image href="` + href + `"/>` + end)); err != nil || bytes.Contains(got, []byte("href")) {
			t.Errorf("%s: %s, %v", href, got, err)
		}
	}
}

func TestCleanRefuses(t *testing.T) {
	for _, source := range []string{
		"", "text", "<svg>", "</svg>", "<html/>", "<svg/><svg/>", "<svg><g></svg>", "<svg>&unknown;</svg>", "<svg a=1/>", "<svg><g></svg></g>",
		`<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>`, "<svg>\xff</svg>", "<svg>\x00</svg>",
		strings.Repeat("<svg>", 100) + strings.Repeat("</svg>", 100), "<script/>",
	} {
		if got, err := Clean([]byte(source)); !errors.Is(err, ErrNotSVG) {
			t.Errorf("%q: %s, %v", source, got, err)
		}
	}
	big := begin + strings.Repeat("<g></g>", LimitBytes/7) + end
	if _, err := Clean([]byte(big)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large drawing: %v", err)
	}
	if _, err := Clean([]byte(begin + "<text>" + strings.Repeat(`"`, LimitBytes/2) + "</text>" + end)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a drawing that grows: %v", err)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		begin + `<g transform="rotate(4)"><text style="fill:red" x="1">a&amp;</text></g>` + end,
		begin + `<image xlink:href="data:image/png;base64,AAAA"/><script>x</script>` + end,
		`<svg onload="x"><![CDATA[<script>]]></svg>`, `<svg><a:b c:d="e"/></svg>`, "<svg\r\nx='1'>\r</svg>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		clean, err := Clean(source)
		if err != nil {
			return
		}
		again, err := Clean(clean)
		if err != nil || !bytes.Equal(clean, again) {
			t.Fatalf("not stable: %q then %q, %v", clean, again, err)
		}
		decoder := xml.NewDecoder(bytes.NewReader(clean))
		for {
			token, err := decoder.RawToken()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%q: %v", clean, err)
			}
			element, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if !elements[element.Name.Local] || element.Name.Space != "" {
				t.Errorf("element %v", element.Name)
			}
			for _, a := range element.Attr {
				if !attributes[a.Name.Local] || a.Name.Space != "" || reference.MatchString(a.Value) {
					t.Errorf("attribute %v=%q", a.Name, a.Value)
				}
				if a.Name.Local == "href" && !strings.HasPrefix(a.Value, picture) {
					t.Errorf("href %q", a.Value)
				}
			}
		}
	})
}

// TestBreakJumps: what is not a curve with a jump stays as it was.
func TestBreakJumps(t *testing.T) {
	const head, style = `<svg viewBox="0 0 3600 2250">`, `<polyline fill="none" stroke="#5E81B5" points="`
	for drawing, want := range map[string]string{
		style + `0,9 5,9 5,900 9,900 "/>`: style + `0,9 5,9 "/>` + style + `5,900 9,900 "/>`,
		// a pole between two pieces, and an axis of another style
		style + `0,90 9,0 19,0 "/>` + style + `9,0 10,2000 "/>` + `<polyline stroke="#CCC" points="5,0 5,2250 "/>`: style + `0,90 9,0 19,0 "/>` + `<polyline stroke="#CCC" points="5,0 5,2250 "/>`,
		// steep, but the samples go up with it
		style + `0,900 1,700 2,400 3,100 4,9 "/>`: style + `0,900 1,700 2,400 3,100 4,9 "/>`,
		// the last step, which is not refined
		style + `0,9 5,9 10,9 24,800 "/>`: style + `0,9 5,9 10,9 "/>`,
		style + `a,b 1,2 3,4"/>`:          style + `a,b 1,2 3,4"/>`,
	} {
		if got := BreakJumps(head + drawing); got != head+want {
			t.Errorf("%s:\n%s\nwant\n%s", drawing, got, want)
		}
	}
	if got := BreakJumps("<svg>" + style + `0,9 5,9 5,900 9,900 "/>`); strings.Count(got, "polyline") != 1 {
		t.Errorf("without a size: %s", got)
	}
}
