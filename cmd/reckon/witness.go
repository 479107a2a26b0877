package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"reckon/internal/httpserver"
	"reckon/internal/private"
	"reckon/internal/witness"
)

// witnessCmd runs a witness. It needs nothing of an installation: whoever runs it is another party than the log's operator.
type witnessCmd struct {
	Init   bool     `help:"Make a new witness, with a key of its own, where --folder holds none." env:"-"`
	Folder string   `help:"Folder of the witness's key and of what it has cosigned. Never restore it from a backup: a witness that forgets may cosign two histories." required:"" env:"RECKON_WITNESS_FOLDER" placeholder:"DIR"`
	Name   string   `help:"Name of the witness, such as witness.example/reckon: that of its key for ever." required:"" env:"RECKON_WITNESS_NAME" placeholder:"NAME"`
	Logs   []string `name:"log" help:"Verifier key of a log that is witnessed, as its /.well-known/transparency-log.json has it; once for each of its keys." required:"" sep:"none" env:"RECKON_WITNESS_LOG" placeholder:"VKEY"`
	Listen string   `help:"Address where logs reach it; put TLS before it." default:"127.0.0.1:8090" env:"RECKON_WITNESS_LISTEN" placeholder:"HOST:PORT"`
}

// NoWitnessError is returned where the folder that was named has no witness's key: its name may be mistyped, or its disk away.
type NoWitnessError struct{ Folder string }

func (e *NoWitnessError) Error() string {
	return fmt.Sprintf("there is no witness at %s. Is the name mistyped, or a disk not mounted? --init makes a new one there, whose key no log knows", e.Folder)
}

// Run cosigns until a signal ends it.
func (c *witnessCmd) Run() (err error) {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	known, err := witness.HasKey(c.Folder)
	if err != nil {
		return err
	}
	if !known && !c.Init {
		return &NoWitnessError{c.Folder}
	}
	if err := private.MakeFolder(c.Folder, logger); err != nil {
		return err
	}
	w, err := witness.Open(c.Folder, c.Name, c.Logs, time.Now, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	ctx, stop := untilSignal()
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	fmt.Printf("%s http://%s\n", w.Key(), listener.Addr())
	return serveUntil(ctx, httpserver.New(w, httpserver.ClientLimits(), logger), listener)
}
