package store

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

func TestMigrationPlan_IsCompatibleUnlessMigrationExcludesCurrentPrograms(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for version, compatibleFrom := range map[int]int{1: 1, 2: 1, 3: 3, 4: 2, 10: 4} {
		files[fmt.Sprintf("migrations/%05d_step_%d.sql", version, version)] = &fstest.MapFile{
			Data: fmt.Appendf(nil, "-- +goose Up\nINSERT INTO schema_compatibility (version, compatible_from) VALUES (%d, %d);\n", version, compatibleFrom),
		}
	}
	known, err := listMigrations(files)
	want := []Migration{{1, "step_1", 1}, {2, "step_2", 1}, {3, "step_3", 3}, {4, "step_4", 2}, {10, "step_10", 4}}
	if err != nil || !slices.Equal(known, want) {
		t.Fatalf("got %v, %v", known, err)
	}
	for current, compatible := range map[int64]bool{0: true, 1: false, 2: false, 3: false, 4: true, 10: true} {
		plan := MigrationPlan{Current: current, Newest: 10}
		for _, migration := range known {
			if migration.Version > current {
				plan.Pending = append(plan.Pending, migration)
			}
		}
		if plan.Compatible() != compatible {
			t.Errorf("from schema %d: programs of schema %d and later keep running, so compatible should be %v", current, plan.OldestProgram(), compatible)
		}
	}
	files["migrations/00011_unmarked.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n")}
	if _, err := listMigrations(files); err == nil {
		t.Error("a migration without its mark is accepted")
	}
}

func TestPlanMigrations_CreatesNoDatabase(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]Options{"SQLite": {Data: t.TempDir()}, "PostgreSQL": {URL: pgtest.Database(t), MaxConnections: 2}} {
		plan, err := PlanMigrations(t.Context(), place)
		if err != nil || plan.Current != 0 || !plan.Compatible() || int64(len(plan.Pending)) != plan.Newest {
			t.Errorf("%s: got %+v, %v", name, plan, err)
		}
		if db, err := OpenExisting(t.Context(), place); err != nil || db != nil {
			t.Errorf("%s: there is a schema, %v", name, err)
		}
		if place.URL == "" && sqldb.Exists(place) {
			t.Error("the plan created a database")
		}
	}
}

func TestPlanMigrations_ListsWhatOpenRuns(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		newest := newestKnownSchema(t, db)
		if plan, err := PlanMigrations(t.Context(), place); err != nil || plan.Current != newest || len(plan.Pending) != 0 {
			t.Errorf("up to date: got %+v, %v", plan, err)
		}
		provider, err := db.migrator()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := provider.DownTo(t.Context(), newest-2); err != nil {
			t.Fatal(err)
		}
		before := schemaOf(t, db)
		plan, err := PlanMigrations(t.Context(), place)
		if err != nil || plan.Current != newest-2 || len(plan.Pending) != 2 || plan.Pending[1].Version != newest || !plan.Compatible() {
			t.Errorf("two behind: got %+v, %v", plan, err)
		}
		if after := schemaOf(t, db); after != before {
			t.Errorf("the schema was\n%s\nand is\n%s", before, after)
		}
		openAt(t, place)
		if plan, err := PlanMigrations(t.Context(), place); err != nil || len(plan.Pending) != 0 {
			t.Errorf("after Open: got %+v, %v", plan, err)
		}
		insertMigration(t, db, newest+1)
		_, err = PlanMigrations(t.Context(), place)
		requireNewerSchemaError(t, "PlanMigrations", newest+1, newest, err)
	})
}
