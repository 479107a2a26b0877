package workbench

import (
	"net/http"

	"reckon/internal/httpkit"
)

// signInShown is what the pages to sign in and to open an account show.
type signInShown struct {
	Email   string
	Next    string // where the person wanted to go
	Problem *refusal
}

// goOn sends who is signed in already on to where they wanted to go.
func (v *visit) goOn() bool {
	if !v.who().SignedIn {
		return false
	}
	v.redirect(local(v.r.URL.Query().Get("next")))
	return true
}

func (v *visit) signInPage() {
	if v.goOn() {
		return
	}
	v.show("sign_in", shown{Title: "Sign in", Section: "sign-in", Page: signInShown{Next: local(v.r.URL.Query().Get("next"))}})
}

func (v *visit) signUpPage() {
	if v.goOn() {
		return
	}
	v.show("sign_up", shown{Title: "Open an account", Section: "sign-up", Page: signInShown{Next: local(v.r.URL.Query().Get("next"))}})
}

func (v *visit) signInForm() {
	to := local(v.field("next"))
	if problem := v.signIn(); problem != nil {
		v.showWithStatus("sign_in", shown{Title: "Sign in", Section: "sign-in", Page: signInShown{Email: v.field("email"), Next: to, Problem: problem}}, problem)
		return
	}
	v.redirect(to)
}

// signUpForm opens an account and signs in to it. An account that was opened before the answer was lost is signed in to in the same way.
func (v *visit) signUpForm() {
	to := local(v.field("next"))
	_, problem := v.ask(http.MethodPost, "/auth/register", v.credentials(), nil)
	if problem == nil {
		problem = v.signIn()
	}
	if problem != nil {
		v.showWithStatus("sign_up", shown{Title: "Open an account", Section: "sign-up", Page: signInShown{Email: v.field("email"), Next: to, Problem: problem}}, problem)
		return
	}
	v.redirect(to)
}

func (v *visit) credentials() map[string]string {
	return map[string]string{"email": v.field("email"), "password": v.r.PostFormValue("password")}
}

// signIn gives this answer the cookies of a new browser session.
func (v *visit) signIn() *refusal {
	reply, problem := v.ask(http.MethodPost, "/auth/login", v.credentials(), nil)
	if problem != nil {
		return problem
	}
	v.takeCookies(reply)
	return nil
}

func (v *visit) signOutForm() {
	reply, problem := v.ask(http.MethodPost, "/auth/logout", nil, nil)
	if problem != nil && problem.Status != http.StatusUnauthorized { // who is signed out already may be so again
		v.show("problem", shown{Title: "You are still signed in", Problem: problem})
		return
	}
	if reply != nil {
		v.takeCookies(reply)
	}
	v.redirect("/")
}

// refuseSignOut leaves out that nobody is signed in any more, which is what the form was sent for.
func (v *visit) refuseSignOut(problem *refusal) {
	if problem.Status == http.StatusUnauthorized {
		v.redirect("/")
		return
	}
	v.refuse(problem)
}

// takeCookies sets the cookies that a route has set.
func (v *visit) takeCookies(reply *httpkit.Reply) {
	for _, cookie := range reply.Header().Values("Set-Cookie") {
		v.w.Header().Add("Set-Cookie", cookie)
	}
}
