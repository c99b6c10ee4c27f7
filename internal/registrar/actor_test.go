package registrar_test

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestRequireRecentSignIn_AcceptsOnlyRecentPerson(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		kind     registrar.ActorKind
		customer string
		at       time.Time
		want     registrar.Kind
	}{
		{registrar.ActorPerson, "cus_1", now, 0},
		{registrar.ActorPerson, "cus_1", now.Add(-registrar.RecentSignIn), 0},
		{registrar.ActorPerson, "cus_1", now.Add(-registrar.RecentSignIn - 1), registrar.KindUnauthenticated},
		{registrar.ActorPerson, "cus_1", now.Add(time.Second), registrar.KindUnauthenticated}, // the clock was set back
		{registrar.ActorPerson, "cus_1", time.Time{}, registrar.KindUnauthenticated},
		{registrar.ActorPerson, "", now, registrar.KindForbidden},
		{registrar.ActorToken, "cus_1", now, registrar.KindForbidden},
		{registrar.ActorOperator, "cus_1", now, registrar.KindForbidden},
	} {
		err := registrar.Actor{Kind: c.kind, Customer: c.customer, SignedInAt: c.at}.RequireRecentSignIn(now)
		if (err == nil) != (c.want == 0) || err != nil && registrar.KindOf(err) != c.want {
			t.Errorf("%s %q at %v: %v", c.kind, c.customer, c.at, err)
		}
	}
}

func TestRequire_ChecksKindAndIdentity(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		actor                      registrar.Actor
		person, signedIn, operator registrar.Code
	}{
		{registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"}, "", "", registrar.OperatorsOnly},
		{registrar.Actor{Kind: registrar.ActorPerson}, registrar.PersonsOnly, registrar.SignInFirst, registrar.OperatorsOnly},
		{registrar.Actor{Kind: registrar.ActorToken, Customer: "cus_1"}, registrar.PersonsOnly, registrar.SignInFirst, registrar.OperatorsOnly},
		{registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, registrar.PersonsOnly, registrar.SignInFirst, ""},
		{registrar.Actor{Kind: registrar.ActorOperator}, registrar.PersonsOnly, registrar.SignInFirst, registrar.OperatorsOnly},
	} {
		person, signedIn, operator := test.actor.RequirePerson(), test.actor.RequireSignedIn(), test.actor.RequireOperator()
		if registrar.CodeOf(person) != test.person || registrar.CodeOf(signedIn) != test.signedIn || registrar.CodeOf(operator) != test.operator {
			t.Errorf("%+v: %v, %v, %v", test.actor, person, signedIn, operator)
		}
	}
}
