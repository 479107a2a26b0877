package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"reckon/internal/disk"
)

// Files of a node's own certificates, in the folder tlsFolder of its folder.
const (
	tlsFolder   = "tls"
	caFile      = "ca.crt"
	caKeyFile   = "ca.key"
	nodeFile    = "node.crt"
	nodeKeyFile = "node.key"
)

const (
	caLifetime      = 10 * 365 * 24 * time.Hour
	nodeLifetime    = 365 * 24 * time.Hour
	renewBefore     = nodeLifetime / 3
	certificateLook = time.Minute // how often it is seen whether a certificate is to be renewed or was replaced
	clockTolerance  = time.Hour   // by which clients' clocks may be behind
)

// certificates answers TLS handshakes with a certificate that is loaded again when its files change, and every minute, and made again in time when it is the node's own.
type certificates struct {
	certFile, keyFile string
	renew             func(now time.Time) error // nil for a certificate that was given
	clock             func() time.Time
	logger            *slog.Logger

	mu     sync.Mutex
	now    *tls.Certificate
	looked time.Time
	seen   [2]fileStamp // of certificate and key, when they were looked at
}

// fileStamp tells a file from one that was put in its place or written anew.
type fileStamp struct {
	changed time.Time
	size    int64
}

func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

// givenCertificates serves a certificate from files of PEM, whose owner renews them.
func givenCertificates(certFile, keyFile string, clock func() time.Time, logger *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, clock: clock, logger: logger}
	return c, c.load(clock())
}

// ownCertificates serves a certificate for names, signed by a CA that is made in the node's
// folder on the first start. A certificate for other names is made anew.
func ownCertificates(dir string, names []string, clock func() time.Time, logger *slog.Logger) (*certificates, error) {
	folder := filepath.Join(dir, tlsFolder)
	if err := disk.MakeFolder(folder); err != nil {
		return nil, fmt.Errorf("folder of the node's certificates: %w", err)
	}
	c := &certificates{certFile: filepath.Join(folder, nodeFile), keyFile: filepath.Join(folder, nodeKeyFile), clock: clock, logger: logger}
	c.renew = func(now time.Time) error { return renewNode(folder, names, now, logger) }
	return c, c.load(clock())
}

// load makes the certificate anew where that is due, and reads it.
func (c *certificates) load(now time.Time) error {
	if c.renew != nil {
		if err := c.renew(now); err != nil {
			return fmt.Errorf("the node's certificate: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("the node's certificate in %s and its key in %s: %w", c.certFile, c.keyFile, err)
	}
	c.now = &pair
	return nil
}

// get is tls.Config.GetCertificate. A certificate that cannot be loaded again is served as it was.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, stamps := c.clock(), [2]fileStamp{stampOf(c.certFile), stampOf(c.keyFile)}
	if stamps == c.seen && now.Sub(c.looked).Abs() < certificateLook {
		return c.now, nil
	}
	c.looked, c.seen = now, stamps
	if err := c.load(now); err != nil {
		what := "the certificate that was given cannot be read again, alone or with its key"
		if c.renew != nil {
			what = "the node's certificate cannot be renewed"
		}
		c.logger.Error(what+"; the present one is used on", "error", err)
	}
	return c.now, nil
}

func (c *certificates) config() *tls.Config {
	return &tls.Config{GetConfigForClient: takeShakeTurn, GetCertificate: c.get, MinVersion: tls.VersionTLS12, NextProtos: []string{http2Protocol, "http/1.1"}}
}

// certificateNames are the names and addresses by which clients reach a node that listens on an address.
func certificateNames(listen net.Addr, given []string) []string {
	names := append([]string{"localhost", "127.0.0.1", "::1"}, given...)
	if host, err := os.Hostname(); err == nil && host != "" {
		names = append(names, host)
	}
	if tcp, ok := listen.(*net.TCPAddr); ok && !tcp.IP.IsUnspecified() {
		names = append(names, tcp.IP.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// renewNode makes the node's certificate where there is none for these names, where it ends
// soon, and where the CA is another one.
func renewNode(folder string, names []string, now time.Time, logger *slog.Logger) error {
	ca, caKey, err := readPair(filepath.Join(folder, caFile), filepath.Join(folder, caKeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		ca, caKey, err = replaceCA(folder, now, logger)
	}
	if err != nil {
		return err
	}
	certFile, keyFile := filepath.Join(folder, nodeFile), filepath.Join(folder, nodeKeyFile)
	if present, _, err := readPair(certFile, keyFile); err == nil && present.CheckSignatureFrom(ca) == nil &&
		now.After(present.NotBefore) && now.Add(renewBefore).Before(present.NotAfter) && slices.Equal(namesOf(present), names) {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "reckon node"},
		NotBefore:             now.Add(-clockTolerance),
		NotAfter:              earlier(now.Add(nodeLifetime), ca.NotAfter),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return writePair(certFile, keyFile, template, ca, key, caKey)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func namesOf(c *x509.Certificate) []string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	slices.Sort(names)
	return names
}

// replaceCA makes the CA of a folder that lacks its certificate, its key or both. Where the key is there, the certificate is
// made again of it, so that clients who have the former one take what it signs.
func replaceCA(folder string, now time.Time, logger *slog.Logger) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	encoded, err := os.ReadFile(filepath.Join(folder, caKeyFile))
	switch {
	case err == nil:
		key, err := parseKey(encoded)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", filepath.Join(folder, caKeyFile), err)
		}
		logger.Warn("the certificate of the node's CA was gone, and was made again of its key: clients that have the former one connect as before", "file", filepath.Join(folder, caFile))
		return makeCA(folder, now, key)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, err
	}
	for _, name := range []string{caFile, nodeFile} {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			logger.Warn("the key of the node's CA was gone, and another CA was made: give clients its certificate, for those who have the former one cannot connect", "file", filepath.Join(folder, caFile))
			break
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	return makeCA(folder, now, key)
}

func parseKey(encoded []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(encoded)
	if block == nil {
		return nil, errors.New("it is no PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is no key that this program made")
	}
	return key, nil
}

func makeCA(folder string, now time.Time, key *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "reckon node CA"},
		NotBefore:             now.Add(-clockTolerance),
		NotAfter:              now.Add(caLifetime),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	certFile, keyFile := filepath.Join(folder, caFile), filepath.Join(folder, caKeyFile)
	if err := writePair(certFile, keyFile, template, template, key, key); err != nil {
		return nil, nil, err
	}
	return readPair(certFile, keyFile)
}

// writePair signs and writes a certificate and its key: the key first, so that a
// certificate that is there has its key. A pair that is torn by a crash does not match, and is made anew.
func writePair(certFile, keyFile string, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	signed, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		writePrivate(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})),
		writePrivate(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
	)
}

// readPair reads a certificate and its key. A missing certificate is fs.ErrNotExist.
func readPair(certFile, keyFile string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("%s and %s: %w", certFile, keyFile, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("%s is no key that this program made", keyFile)
	}
	return pair.Leaf, key, nil
}

// writePrivate writes a file of mode 0600 that is there whole or as it was before.
func writePrivate(path string, content []byte) error {
	draft, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err = errors.Join(err, draft.Chmod(0o600), draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
