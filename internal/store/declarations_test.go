package store

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
)

func TestADeclarationIsKeptWithItsLettersAndDealtWithOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		service, err := declaration.New(declaration.Config{Store: db, Operator: "post@kontor.example", Now: func() time.Time { return testTime }})
		if err != nil {
			t.Fatal(err)
		}
		made, err := service.Declare(ctx, registrar.Actor{Kind: registrar.ActorPerson}, declaration.Declaration{
			Kind: declaration.Termination, Name: "Erika", Email: "erika@example.de", Contract: "kaffee.de", Ground: declaration.Ordinary, End: "2099-12-31",
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := db.Declarations(ctx, "", 10)
		if err != nil || len(list) != 1 || list[0] != made || !list[0].DoneAt.IsZero() {
			t.Fatalf("%+v, %v, want %+v", list, err, made)
		}
		if after, err := db.Declarations(ctx, made.ID, 10); err != nil || len(after) != 0 {
			t.Errorf("after the last: %v, %v", after, err)
		}
		due, err := db.DueLetters(ctx, testTime.Add(time.Hour), 10)
		if err != nil || len(due) != 2 || due[0].Facts["number"] != made.ID || !strings.Contains(due[0].To+due[1].To, "erika@example.de") {
			t.Errorf("%+v, %v", due, err)
		}
		for i, want := range []bool{true, false} {
			if done, err := db.FinishDeclaration(ctx, made.ID, testTime); err != nil || done != want {
				t.Errorf("%d: %t, %v", i, done, err)
			}
		}
		if done, err := db.FinishDeclaration(ctx, "dcl_none", testTime); err != nil || done {
			t.Errorf("what does not exist: %t, %v", done, err)
		}
	})
}
