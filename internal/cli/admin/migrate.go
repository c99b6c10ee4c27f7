package admin

import (
	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/store"
)

type MigrateCommand struct {
	databaseFlags
	Plan bool `help:"Only print what would run, and whether the nodes may stay up. Exits with 3 if they must be stopped first."`
}

// Run migrates the database as serve does when it starts.
func (c MigrateCommand) Run(t *cli.Terminal) error {
	options, err := c.options(t)
	if err != nil {
		return err
	}
	plan, err := store.PlanMigrations(t.Ctx, options)
	if err != nil {
		return err
	}
	if c.Plan {
		return printPlan(t, plan)
	}
	if err := app.Migrate(t.Ctx, options); err != nil {
		return err
	}
	if plan.Current == plan.Newest {
		return t.Println("nothing to do: the database has schema %d", plan.Current)
	}
	return t.Println("migrated from schema %d to %d", plan.Current, max(plan.Current, plan.Newest))
}

func printPlan(t *cli.Terminal, plan store.MigrationPlan) error {
	current := "the database has schema %d"
	if plan.Current == 0 {
		current = "the database is missing or empty (schema %d)"
	}
	if err := t.Println(current+", this program needs schema %d (%s)", plan.Current, plan.Newest, plan.Engine); err != nil {
		return err
	}
	for _, migration := range plan.Pending {
		kind, who := "expand", "programs from schema %d on keep running"
		if !migration.Expands() {
			kind, who = "incompatible", "only programs from schema %d on run after it"
		}
		if err := t.Println("%5d  %-22s %-13s "+who, migration.Version, migration.Name, kind, migration.CompatibleFrom); err != nil {
			return err
		}
	}
	switch {
	case len(plan.Pending) == 0:
		return t.Println("nothing to do: nodes may stay up and be replaced one by one")
	case plan.Current == 0:
		return t.Println("a new database: no node can be running on it")
	case plan.Compatible():
		return t.Println("compatible: running nodes may stay up and be replaced one by one")
	}
	if err := t.Println("incompatible: stop all nodes before this program starts; programs before schema %d refuse to start afterwards", plan.OldestProgram()); err != nil {
		return err
	}
	return cli.ExitCode(cli.ExitIncompatible)
}
