package blobs

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// Address says where blobs are kept: in Folder, or in Bucket where that is set.
type Address struct {
	Folder string
	Bucket BucketAddress
}

// BucketAddress is a bucket of a service that speaks S3. What it lets in is not part of it: OpenBucket.
type BucketAddress struct {
	Name     string
	Prefix   string // of every object's key; empty, or ends in /
	Endpoint string // host or host:port
	Region   string // empty: the service is asked
	Plain    bool   // HTTP without TLS
}

// awsEndpoint is asked where an address names no endpoint.
const awsEndpoint = "s3.amazonaws.com"

var (
	// bucketPattern is the names that AWS gives to buckets ("General purpose bucket naming rules"), those with dots aside: no certificate covers them.
	bucketPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)
	prefixPattern = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$`)
	regionPattern = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
)

// ParseAddress reads file:///DIR, or s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=NAME of which only BUCKET is needed.
func ParseAddress(address string) (Address, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Address{}, fmt.Errorf("%q is neither file:///DIR nor s3://BUCKET", address)
	case u.Scheme == "file" && u.Host+u.Path != "":
		return Address{Folder: filepath.FromSlash(u.Host + u.Path)}, nil // in file://relative/folder the first part of the path is parsed as the host
	case u.Scheme == "s3":
		bucket, err := parseBucket(u)
		return Address{Bucket: bucket}, err
	}
	return Address{}, fmt.Errorf("%q is neither file:///DIR nor s3://BUCKET", address)
}

func parseBucket(u *url.URL) (BucketAddress, error) {
	b := BucketAddress{Name: u.Host, Endpoint: awsEndpoint}
	if u.User != nil {
		return b, errors.New("s3://: credentials do not belong into the address: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in the file of AWS_SHARED_CREDENTIALS_FILE")
	}
	if !bucketPattern.MatchString(b.Name) {
		return b, fmt.Errorf("s3://: %q is no name of a bucket: 3 to 63 of a-z, 0-9 and -", u.Host)
	}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		if b.Prefix = prefix + "/"; !prefixPattern.MatchString(prefix) {
			return b, fmt.Errorf("s3://: %q is no prefix: parts of A-Z, a-z, 0-9, _ and -, with / between them", prefix)
		}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return b, fmt.Errorf("s3://: %w", err)
	}
	for name, values := range query {
		switch {
		case len(values) != 1:
			err = fmt.Errorf("s3://: %s is given %d times", name, len(values))
		case name == "endpoint":
			b.Endpoint, b.Plain, err = parseEndpoint(values[0])
		case name == "region" && regionPattern.MatchString(values[0]):
			b.Region = values[0]
		default:
			err = fmt.Errorf("s3://: %s=%s is not known; there are endpoint=https://HOST:PORT and region=NAME", name, values[0])
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// parseEndpoint refuses HTTP to another machine: keys and blobs would be readable on the way.
func parseEndpoint(endpoint string) (host string, plain bool, err error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", false, fmt.Errorf("s3://: endpoint %q is not https://HOST:PORT", endpoint)
	}
	if plain = u.Scheme == "http"; plain {
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return "", false, fmt.Errorf("s3://: endpoint %q is of another machine: use https", endpoint)
		}
	}
	return u.Host, plain, nil
}

// String is the address as ParseAddress reads it, in its normal form.
func (a Address) String() string {
	if a.Bucket.Name == "" {
		return "file://" + filepath.ToSlash(a.Folder)
	}
	return a.Bucket.String()
}

// String is the address as ParseAddress reads it, in its normal form.
func (b BucketAddress) String() string {
	query := url.Values{}
	if b.Endpoint != awsEndpoint {
		query.Set("endpoint", b.scheme()+"://"+b.Endpoint)
	}
	if b.Region != "" {
		query.Set("region", b.Region)
	}
	u := url.URL{Scheme: "s3", Host: b.Name, Path: strings.TrimSuffix("/"+b.Prefix, "/"), RawQuery: query.Encode()}
	return u.String()
}

func (b BucketAddress) scheme() string {
	if b.Plain {
		return "http"
	}
	return "https"
}
