package operator

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync/atomic"
)

// policy of every answer: its script, style and pictures are this listener's, its forms and requests come here, and nobody frames it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// cookieName is of the cookie that the link is exchanged for.
const cookieName = "reckon-operator"

// Door lets one browser to the pages: that which presents the code of the link first.
type Door struct {
	next        http.Handler
	host        string // HOST:PORT that it answers as
	folder      string // first part of every page's path; browsers send the cookie below it only
	code        [sha256.Size]byte
	used        atomic.Bool
	session     string // the cookie's value
	crossOrigin *http.CrossOriginProtection
}

// NewDoor makes a door that answers as host (HOST:PORT) in front of pages, and the link that opens it once. Code, cookie and folder
// have at least 128 random bits each (crypto/rand.Text).
func NewDoor(host string, pages http.Handler) (door *Door, link string) {
	code := rand.Text()
	d := &Door{host: host, folder: rand.Text(), code: sha256.Sum256([]byte(code)), session: rand.Text(), crossOrigin: http.NewCrossOriginProtection()}
	d.next = http.StripPrefix("/"+d.folder, pages)
	return d, "http://" + host + "/?code=" + code
}

// ServeHTTP is http.Handler.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin") // with no-referrer browsers send forms with Origin: null
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	switch {
	case r.Host != d.host: // a name of somebody's that resolves to this machine (DNS rebinding)
		http.Error(w, "this listener answers as "+d.host+" only", http.StatusMisdirectedRequest)
	case !ownSite(r) || d.crossOrigin.Check(r) != nil:
		http.Error(w, "a page of another origin asked for this: copy the printed address into the address bar", http.StatusForbidden)
	case r.Method == http.MethodGet && r.URL.Path == "/" && r.URL.Query().Has("code"):
		d.open(w, r)
	case !d.known(r) || !strings.HasPrefix(r.URL.Path, "/"+d.folder+"/"):
		http.Error(w, "open the address that `reckon operate` printed; it works once, in one browser", http.StatusUnauthorized)
	default:
		d.next.ServeHTTP(w, r)
	}
}

// ownSite tells whether a request is the reader's own or a page's of this listener, as far as the browser says. A page of another
// port is of the same site, and of another origin (Fetch Metadata, section 2.3).
func ownSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "none" || site == "same-origin"
}

// open exchanges the code for the cookie.
func (d *Door) open(w http.ResponseWriter, r *http.Request) {
	given := sha256.Sum256([]byte(r.URL.Query().Get("code"))) // equally long, so that the time tells nothing
	if subtle.ConstantTimeCompare(given[:], d.code[:]) != 1 || !d.used.CompareAndSwap(false, true) {
		http.Error(w, "this code is wrong or has been used; run `reckon operate` again for another", http.StatusUnauthorized)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: d.session, Path: "/" + d.folder + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Location", "/"+d.folder+"/overview")
	w.WriteHeader(http.StatusSeeOther)
}

// known tells whether a request has the cookie. Another port of this address may have set some of the same name.
func (d *Door) known(r *http.Request) bool {
	want := sha256.Sum256([]byte(d.session))
	for _, cookie := range r.CookiesNamed(cookieName) {
		if given := sha256.Sum256([]byte(cookie.Value)); subtle.ConstantTimeCompare(given[:], want[:]) == 1 {
			return true
		}
	}
	return false
}
