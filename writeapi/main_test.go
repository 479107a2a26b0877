package writeapi_test

import (
	"os"
	"testing"

	"reckon/test/shared"
)

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }
