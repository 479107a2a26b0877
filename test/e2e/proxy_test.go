package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"reckon/test/locked"
	"reckon/test/need"
	"reckon/test/wait"
)

const (
	proxyPage  = "../../docs/proxy.md"
	publicHost = "reckon.example"
)

// example is the configuration that docs/proxy.md gives for a proxy.
func example(t *testing.T, proxy string) string {
	t.Helper()
	page, err := os.ReadFile(proxyPage)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- example: " + proxy + " -->\n```[a-z]*\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("%s gives no example for %s", proxyPage, proxy)
	}
	return string(found[1])
}

// replaced is a text in which each old part stood and gave way to a new one.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the example has no %q:\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// selfSigned writes a certificate for the public host and its key.
func selfSigned(t *testing.T, folder string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: publicHost}, DNSNames: []string{publicHost}, NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(folder, "c.crt"), filepath.Join(folder, "c.key")
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// proxies run the examples of docs/proxy.md with ports, certificate and folders of the test's.
var proxies = map[string]func(t *testing.T, folder, port, upstream string) *exec.Cmd{
	"nginx": func(t *testing.T, folder, port, upstream string) *exec.Cmd {
		certificate, key := selfSigned(t, folder)
		site := replaced(t, example(t, "nginx"), "listen 443", "listen 127.0.0.1:"+port, "/etc/ssl/reckon.example.crt", certificate, "/etc/ssl/reckon.example.key", key, "127.0.0.1:8080", upstream)
		temporary := ""
		for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			temporary += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(folder, kind))
		}
		configuration := filepath.Join(folder, "nginx.conf")
		whole := "daemon off;\nmaster_process off;\npid " + filepath.Join(folder, "pid") + ";\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + temporary + site + "}\n"
		if err := os.WriteFile(configuration, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command("nginx", "-p", folder, "-c", configuration, "-e", "stderr")
	},
	"caddy": func(t *testing.T, folder, port, upstream string) *exec.Cmd {
		certificate, key := selfSigned(t, folder)
		site := replaced(t, example(t, "caddy"), "reckon.example {", publicHost+":"+port+" {\n    tls "+certificate+" "+key, "127.0.0.1:8080", upstream)
		configuration := filepath.Join(folder, "Caddyfile")
		if err := os.WriteFile(configuration, []byte("{\n    admin off\n    auto_https off\n}\n"+site), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", configuration)
		command.Env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CONFIG_HOME="+folder)
		return command
	},
}

// TestProxies runs the documented configurations: clients are told apart by
// address, cookies are Secure, and what a client says about itself is not believed.
func TestProxies(t *testing.T) {
	t.Parallel()
	for name, configured := range proxies {
		t.Run(name, func(t *testing.T) {
			need.Program(t, name, name)
			server := Start(t, DataFolder(t), "--public-url", "https://"+publicHost+"/", "--trusted-proxies", "127.0.0.1/32", "--registrations-per-hour", "2")
			folder := t.TempDir()
			address := need.Address(t)
			_, port, _ := net.SplitHostPort(address)
			command := configured(t, folder, port, strings.TrimPrefix(server.URL, "http://"))
			var said locked.Buffer
			command.Stdout, command.Stderr = &said, &said
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = command.Process.Kill()
				_ = command.Wait()
				if t.Failed() {
					t.Logf("%s:\n%s\nthe server:\n%s", name, said.String(), server.Output())
				}
			})
			wait.Until(t, "the proxy accepts connections", func() bool {
				c, err := net.DialTimeout("tcp", address, time.Second)
				if err == nil {
					_ = c.Close()
				}
				return err == nil
			})

			// All of 127.0.0.0/8 is this machine's on Linux: two clients of two addresses.
			first, second := clientFrom("127.0.0.1", address), clientFrom("127.0.0.2", address)
			for i, c := range []struct {
				client  *http.Client
				forged  string
				refused bool
			}{{first, "", false}, {first, "9.9.9.1", false}, {first, "9.9.9.2", true}, {first, "", true}, {second, "", false}, {second, "127.0.0.1", false}, {second, "9.9.9.3", true}} {
				response := register(t, c.client, fmt.Sprintf("c%d@example.com", i), c.forged)
				if refused := response.StatusCode == http.StatusTooManyRequests; refused != c.refused || !refused && response.StatusCode != http.StatusOK {
					t.Errorf("registration %d: %s", i, response.Status)
				}
			}
			login := post(t, first, "/auth/login", `{"email":"c0@example.com","password":"correct horse"}`, "")
			cookie := login.Header.Get("Set-Cookie")
			if !strings.HasPrefix(cookie, "__Host-reckon=") || !strings.Contains(cookie, "; Secure") || login.Header.Get("Strict-Transport-Security") == "" || login.Header.Get("Content-Security-Policy") == "" {
				t.Errorf("%s %v", login.Status, login.Header)
			}
			if strings.Contains(server.Output(), "is not trusted") {
				t.Errorf("the trusted proxy is warned about:\n%s", server.Output())
			}
			if direct := postTo(t, http.DefaultClient, server.URL+"/auth/login", `{}`, "9.9.9.9"); direct.StatusCode == http.StatusOK {
				t.Error(direct.Status)
			}
		})
	}
}

// TestUntrustedProxyIsNamed: without --trusted-proxies one line tells what to start with.
func TestUntrustedProxyIsNamed(t *testing.T) {
	t.Parallel()
	server := Start(t, DataFolder(t), "--public-url", "https://"+publicHost)
	for range 3 {
		postTo(t, http.DefaultClient, server.URL+"/auth/login", `{}`, "9.9.9.9")
	}
	const remedy = "--trusted-proxies 127.0.0.1/32"
	wait.Until(t, "the log names the remedy", func() bool {
		return strings.Contains(server.Output(), remedy) && strings.Contains(server.Output(), "Integrate[")
	})
	if n := strings.Count(server.Output(), remedy); n != 1 {
		t.Errorf("%d lines:\n%s", n, server.Output())
	}
}

// clientFrom has one address and finds the public host at another.
func clientFrom(own, at string) *http.Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(own)}}
	return &http.Client{Timeout: wait.Longest, Transport: &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", at) },
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: publicHost}, //nolint:gosec // the certificate is the test's own
	}}
}

func register(t *testing.T, client *http.Client, email, forged string) *http.Response {
	t.Helper()
	return post(t, client, "/auth/register", `{"email":"`+email+`","password":"correct horse"}`, forged)
}

func post(t *testing.T, client *http.Client, path, body, forged string) *http.Response {
	t.Helper()
	return postTo(t, client, "https://"+publicHost+path, body, forged)
}

// postTo sends JSON; forged is what the client says its address is.
func postTo(t *testing.T, client *http.Client, url, body, forged string) *http.Response {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if forged != "" {
		request.Header.Set("X-Forwarded-For", forged)
		request.Header.Set("X-Forwarded-Proto", "http")
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response
}
