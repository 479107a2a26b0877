package blobs_test

import (
	"strings"
	"testing"

	"reckon/internal/blobs"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]blobs.Address{
		"file:///srv/blobs":     {Folder: "/srv/blobs"},
		"file://relative/blobs": {Folder: "relative/blobs"},
		"s3://a-bucket":         {Bucket: blobs.BucketAddress{Name: "a-bucket", Endpoint: "s3.amazonaws.com"}},
		"s3://a-bucket/a/b/?region=eu-1&endpoint=https://s3.example:9000": {Bucket: blobs.BucketAddress{Name: "a-bucket", Prefix: "a/b/", Endpoint: "s3.example:9000", Region: "eu-1"}},
		"s3://a-bucket?endpoint=http://127.0.0.1:9000":                    {Bucket: blobs.BucketAddress{Name: "a-bucket", Endpoint: "127.0.0.1:9000", Plain: true}},
	} {
		got, err := blobs.ParseAddress(given)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v", given, got, err)
		}
		if again, err := blobs.ParseAddress(got.String()); err != nil || again != got {
			t.Errorf("%s as %s: %+v %v", given, got, again, err)
		}
	}
}

// TestParseAddressRefuses: an address holds no secret, and no blob crosses a network in the clear.
func TestParseAddressRefuses(t *testing.T) {
	t.Parallel()
	for given, because := range map[string]string{
		"":                                       "neither",
		"blobs":                                  "neither",
		"gs://bucket":                            "neither",
		"s3://key:secret@bucket":                 "AWS_ACCESS_KEY_ID",
		"s3://":                                  "no name of a bucket",
		"s3://Bucket":                            "no name of a bucket",
		"s3://with.dots":                         "no name of a bucket",
		"s3://bucket/../other":                   "no prefix",
		"s3://bucket/a//b":                       "no prefix",
		"s3://bucket?endpoint=http://s3.example": "use https",
		"s3://bucket?endpoint=http://10.0.0.1":   "use https",
		"s3://bucket?endpoint=ftp://127.0.0.1":   "is not https",
		"s3://bucket?endpoint=https://a:b@s3.test": "is not https",
		"s3://bucket?region=a&region=b":            "2 times",
		"s3://bucket?region=EU":                    "not known",
		"s3://bucket?secret=x":                     "not known",
	} {
		if got, err := blobs.ParseAddress(given); err == nil || !strings.Contains(err.Error(), because) || strings.Contains(err.Error(), "key:secret") {
			t.Errorf("%s: %+v %v", given, got, err)
		}
	}
}
