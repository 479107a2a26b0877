package workbench

import (
	"net/http"
	"regexp"
	"strconv"

	"reckon/internal/httpkit"
)

// What was done by a form is shown on the page that the form leads to (303): to load that page again is to look at it, and does nothing.
// Between the two a cookie keeps the words that the page itself cannot tell.
const (
	doneCookie  = "reckon-done"
	doneSeconds = 60 // the page is asked for at once
)

// done is what a form has just done.
type done struct {
	What string // one of the words that templates know
	Left *int64 // jobs of the day that may still be submitted; nil: it is not about jobs
}

var doneForm = regexp.MustCompile(`^([a-z]{1,20})(?:\.([0-9]{1,9}))?$`)

// goOnHaving goes on to a page of this service that says what was done.
func (v *visit) goOnHaving(d done, to string) {
	value := d.What
	if d.Left != nil {
		value += "." + strconv.FormatInt(*d.Left, 10)
	}
	v.keepDone(value, to, doneSeconds)
	v.redirect(to)
}

// keepDone sets the cookie for one page, or ends it with a negative time.
func (v *visit) keepDone(value, path string, seconds int) {
	http.SetCookie(v.w, &http.Cookie{Name: doneCookie, Value: value, Path: path, MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpkit.RequestOf(v.r.Context()).Secure})
}

// justDone is what a form has done that has led to this page, once; a part of a page that is asked for is not told.
func (v *visit) justDone() done {
	cookies := v.r.CookiesNamed(doneCookie)
	if len(cookies) != 1 || v.r.Header.Get("HX-Request") != "" {
		return done{}
	}
	v.keepDone("", v.r.URL.Path, -1)
	found := doneForm.FindStringSubmatch(cookies[0].Value)
	if found == nil {
		return done{}
	}
	d := done{What: found[1]}
	if left, err := strconv.ParseInt(found[2], 10, 64); err == nil {
		d.Left = &left
	}
	return d
}
