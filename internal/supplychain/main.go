// Command supplychain writes what has to go along with a binary that others made
// parts of: NOTICE and the texts of their licences (`licences`), a list of all
// parts in CycloneDX's form (`sbom`), and what each direct dependency costs
// (`dependencies`, docs/dependencies.md).
//
// It promises that every module linked into cmd/reckon on any platform we build
// for is named with its version and licence, and that a module whose licence is
// missing, not recognised or not compatible with Apache-2.0 is an error. It is a
// tool of the repository and no part of the service.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:generate go run . dependencies

const usage = "usage: supplychain licences | supplychain sbom FILE | supplychain dependencies [ACTIONS], where ACTIONS is what\n" +
	"CGO_ENABLED=0 go build -a -debug-actiongraph=ACTIONS ./cmd/reckon wrote: only then are compile times measured"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "supplychain:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, arguments []string) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	if len(arguments) > 0 && arguments[0] == "dependencies" && len(arguments) <= 2 {
		return writeDependencies(ctx, root, strings.Join(arguments[1:], ""))
	}
	parts, err := linked(ctx, root)
	if err != nil {
		return err
	}
	switch {
	case len(arguments) == 1 && arguments[0] == "licences":
		return errors.Join(
			os.WriteFile(filepath.Join(root, noticeFile), notice(parts), 0o644),
			os.WriteFile(filepath.Join(root, licencesFile), licenceTexts(parts), 0o644))
	case len(arguments) == 2 && arguments[0] == "sbom":
		revision, err := exec.CommandContext(ctx, "git", "-C", root, "rev-parse", "--short=12", "HEAD").Output()
		if err != nil {
			return fmt.Errorf("which revision this is: %w", err)
		}
		document, err := sbom(root, strings.TrimSpace(string(revision)), parts)
		if err != nil {
			return err
		}
		return os.WriteFile(arguments[1], document, 0o644)
	}
	return errors.New(usage)
}
