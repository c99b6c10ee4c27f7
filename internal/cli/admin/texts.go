package admin

import (
	"fmt"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/web/legal"
)

type TextsCommand struct {
	Folder string `arg:"" help:"Target folder; created if missing. Existing files are kept."`
}

func (c TextsCommand) Run(t *cli.Terminal) error {
	written, err := legal.WriteDefaultTexts(c.Folder)
	for _, file := range written {
		fmt.Fprintln(t.Out, file)
	}
	return err
}
