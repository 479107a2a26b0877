package svg

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// LimitBytes bounds what Clean reads and what it returns.
const LimitBytes = 2 << 20

const (
	maxDepth      = 64
	maxAttributes = 32
	maxStyleRunes = 200
)

// Errors of Clean.
var (
	ErrTooLarge = fmt.Errorf("the drawing is over %d bytes", LimitBytes)
	ErrNotSVG   = errors.New("the drawing is not a well-formed SVG document")
)

// What may be drawn: shapes, text, groups and embedded pictures. Everything else is left out with all it contains.
var elements = set("svg g path rect circle ellipse line polyline polygon text tspan title desc image")

// What may be said about it. href is kept on an embedded picture only; no other attribute here can name a thing.
var attributes = set("xmlns width height viewBox preserveAspectRatio x y x1 y1 x2 y2 cx cy r rx ry d points dx dy rotate transform " +
	"fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit " +
	"stroke-dasharray stroke-dashoffset opacity color font-family font-size font-style font-weight font-variant text-anchor " +
	"dominant-baseline alignment-baseline baseline-shift text-decoration letter-spacing word-spacing writing-mode " +
	"visibility display overflow shape-rendering text-rendering image-rendering textLength lengthAdjust style href")

var (
	// Style properties and their values: nothing that can hold a reference.
	property   = regexp.MustCompile(`^(?:fill|stroke|opacity|color|font|text|dominant-baseline|visibility|display)[a-z-]*$`)
	styleValue = regexp.MustCompile(`^[\pL\pN #.,%'+\-]*$`)
	// Values that no attribute may have, whatever browsers make of them today.
	reference = regexp.MustCompile(`(?i)url\s*\(|script\s*:|expression\s*\(|@import`)
	// Parentheses are for colours only.
	function = regexp.MustCompile(`(?i)^[^(]*$|^\s*(?:rgba?|hsla?)\([0-9.,%\s/]*\)\s*$`)
	// Coordinates, path commands and transformations.
	number = regexp.MustCompile(`^[\s0-9eE.,+\-a-zA-Z()%]*$`)
)

const picture = "data:image/png;base64,"

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(words) {
		m[word] = true
	}
	return m
}

// Clean reads one SVG document and writes it again with allowed parts only. The result is UTF-8, has no declaration,
// comment or processing instruction, and reads as itself: Clean(Clean(x)) == Clean(x).
func Clean(source []byte) ([]byte, error) {
	if len(source) > LimitBytes {
		return nil, ErrTooLarge
	}
	decoder := xml.NewDecoder(bytes.NewReader(source))
	decoder.Strict = true
	decoder.Entity = nil
	w := &writer{}
	skipping := 0 // depth inside a refused element
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotSVG, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if skipping > 0 || !elements[token.Name.Local] || token.Name.Space != "" || len(token.Attr) > maxAttributes {
				skipping++
			} else if err := w.start(token); err != nil {
				return nil, err
			}
			if w.depth()+skipping > maxDepth {
				return nil, fmt.Errorf("%w: nested too deeply", ErrNotSVG)
			}
		case xml.EndElement:
			if skipping > 0 {
				skipping--
			} else if err := w.finish(token); err != nil {
				return nil, err
			}
		case xml.CharData:
			if skipping == 0 && w.depth() > 0 {
				escape(&w.out, string(token))
			}
		}
		if w.out.Len() > LimitBytes {
			return nil, ErrTooLarge
		}
	}
	if skipping > 0 || w.depth() > 0 || !w.done {
		return nil, ErrNotSVG
	}
	return w.out.Bytes(), nil
}

type writer struct {
	out  bytes.Buffer
	open []string
	done bool // the root element has ended
}

func (w *writer) depth() int { return len(w.open) }

func (w *writer) start(element xml.StartElement) error {
	name := element.Name.Local
	if w.done || w.depth() == 0 && name != "svg" {
		return fmt.Errorf("%w: one svg element is expected", ErrNotSVG)
	}
	w.out.WriteString("<" + name)
	if w.depth() == 0 {
		w.out.WriteString(` xmlns="http://www.w3.org/2000/svg"`)
	}
	seen := map[string]bool{"xmlns": true}
	for _, attribute := range element.Attr {
		key, value := attribute.Name.Local, attribute.Value
		if attribute.Name.Space == "xlink" && key == "href" {
			attribute.Name.Space = ""
		}
		if attribute.Name.Space != "" || seen[key] || !attributes[key] {
			continue
		}
		if value, ok := allowedValue(name, key, value); ok {
			seen[key] = true
			w.out.WriteString(" " + key + `="`)
			escape(&w.out, value)
			w.out.WriteByte('"')
		}
	}
	w.out.WriteByte('>')
	w.open = append(w.open, name)
	return nil
}

func (w *writer) finish(element xml.EndElement) error {
	last := w.depth() - 1
	if last < 0 || w.open[last] != element.Name.Local || element.Name.Space != "" {
		return fmt.Errorf("%w: element %s ends where it did not begin", ErrNotSVG, element.Name.Local)
	}
	w.open = w.open[:last]
	w.out.WriteString("</" + element.Name.Local + ">")
	w.done = last == 0
	return nil
}

// allowedValue answers the value to write, and whether to write it at all.
func allowedValue(element, key, value string) (string, bool) {
	switch {
	case key == "href":
		return value, element == "image" && isPicture(value)
	case key == "style":
		return cleanStyle(value)
	case key == "transform" || key == "d" || key == "points" || key == "viewBox":
		return value, number.MatchString(value) && !reference.MatchString(value)
	case key == "font-family":
		return value, isStyleValue(value)
	default:
		return value, function.MatchString(value) && !reference.MatchString(value)
	}
}

// isStyleValue bounds the length by itself: a repetition of 200 of all letters is 5 MB of a compiled expression.
func isStyleValue(value string) bool {
	return utf8.RuneCountInString(value) <= maxStyleRunes && styleValue.MatchString(value)
}

func isPicture(value string) bool {
	encoded, found := strings.CutPrefix(value, picture)
	if !found {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil
}

func cleanStyle(style string) (string, bool) {
	var kept []string
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, found := strings.Cut(declaration, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		colour := function.MatchString(value) && strings.Contains(value, "(")
		if found && property.MatchString(name) && (isStyleValue(value) || colour) && !reference.MatchString(value) {
			kept = append(kept, name+":"+value)
		}
	}
	return strings.Join(kept, ";"), len(kept) > 0
}

// escape writes text so that it reads back as the same text inside an element or a quoted attribute.
func escape(out *bytes.Buffer, text string) {
	for _, r := range text {
		switch r {
		case '&':
			out.WriteString("&amp;")
		case '<':
			out.WriteString("&lt;")
		case '>':
			out.WriteString("&gt;")
		case '"':
			out.WriteString("&quot;")
		case '\r':
			out.WriteString("&#13;")
		default:
			out.WriteRune(r)
		}
	}
}
