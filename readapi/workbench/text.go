package workbench

import (
	"html/template"
	"strings"
	"unicode/utf8"
)

// chunkBytes is how much of a long text a page shows at once, and of the rest a browser lays out at once.
const chunkBytes = 20 << 10

// shownText is a text of anybody's in a box. Of a long one the beginning is shown, with its size, and the rest on request, in pieces of which a
// browser lays out those that come into view. The text of the class code is the whole text, but for the summary.
func shownText(box, code, text string) template.HTML {
	chunks := chunksOf(text)
	if len(chunks) == 1 {
		return `<pre` + classes(box) + ` tabindex="0"><code` + classes(code) + `>` + visible(text) + `</code></pre>`
	}
	var b strings.Builder
	b.WriteString(string(`<div` + classes("long", box, code) + ` tabindex="0" role="group" aria-label="A long text"><pre><code>` + visible(chunks[0]) + `</code></pre><details><summary><span class="closed">Show all ` + bytesInWords(int64(len(text))) + `</span><span class="opened">Show the beginning only</span></summary><pre><code>`))
	for _, chunk := range chunks[1:] {
		b.WriteString(string(`<span class="chunk">` + visible(chunk) + `</span>`))
	}
	b.WriteString(`</code></pre></details></div>`)
	return template.HTML(b.String()) //nolint:gosec // escaped; classes are named in templates
}

// isLong tells whether only the beginning of a text is shown at once.
func isLong(text string) bool { return len(text) > chunkBytes }

// classes is the attribute for those that are not empty.
func classes(names ...string) template.HTML {
	list := strings.Join(strings.Fields(strings.Join(names, " ")), " ")
	if list == "" {
		return ""
	}
	return template.HTML(` class="` + list + `"`) //nolint:gosec // named in templates
}

// chunksOf cuts a text into pieces, behind a blank or a comma where there is one near the end of a piece.
func chunksOf(text string) (chunks []string) {
	for len(text) > chunkBytes {
		at := chunkBytes
		for !utf8.RuneStart(text[at]) {
			at--
		}
		if near := strings.LastIndexAny(text[at-chunkBytes/8:at], " ,\n"); near >= 0 {
			at += near + 1 - chunkBytes/8
		}
		chunks, text = append(chunks, text[:at]), text[at:]
	}
	return append(chunks, text)
}
