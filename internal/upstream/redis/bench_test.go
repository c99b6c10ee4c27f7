package redis

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/test/testkit/limittest"
	"github.com/dotkontor/dotkontor/test/testkit/redistest"
)

// BenchmarkDecide compares a decision with a script that does nothing.
func BenchmarkDecide(b *testing.B) {
	redis := redistest.Start(b)
	server, err := New(Config{URL: redis.URL, Key: testKey})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	log := server.Log("bench", []ratelimit.Window{{Limit: 30, Per: time.Minute}, {Limit: 300, Per: 6 * time.Hour}})
	generation, err := server.Begin(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Use(b.Context(), generation); err != nil {
		b.Fatal(err)
	}
	b.Run("decision", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			if _, _, err := log.Decide(limittest.Key(n%10_000), 1, true); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare script", func(b *testing.B) {
		client, err := server.connected()
		if err != nil {
			b.Fatal(err)
		}
		name, err := client.Do(b.Context(), client.B().ScriptLoad().Script("return 1").Build()).ToString()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := client.Do(b.Context(), client.B().Evalsha().Sha1(name).Numkeys(0).Build()).Error(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
