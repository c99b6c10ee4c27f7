package ratelimit

import "testing"

func TestRing_KeepsNewestElementsInOrder(t *testing.T) {
	t.Parallel()
	for _, capacity := range []int{1, 2, 3, 4, 5, 7, 8, 299} {
		r := &ring{}
		for last := range uint32(1000) {
			r.push(last, capacity)
			if want := min(int(last)+1, capacity); r.count() != want || len(r.ticks) > capacity {
				t.Fatalf("capacity %d: %d elements of %d, want %d", capacity, r.count(), len(r.ticks), want)
			}
			for n := 1; n <= r.count(); n++ {
				if got, want := r.nth(n), last+1-uint32(n); got != want {
					t.Fatalf("capacity %d: nth(%d) = %d, want %d", capacity, n, got, want)
				}
			}
		}
	}
}

func TestRing_ResizeKeepsElements(t *testing.T) {
	t.Parallel()
	for drop := range 9 {
		r := &ring{}
		for i := range uint32(12) {
			r.push(i, 8)
		}
		for range min(drop, 7) {
			r.dropOldest()
		}
		r.resize(r.count() + drop)
		for n := 1; n <= r.count(); n++ {
			if got, want := r.nth(n), uint32(12-n); got != want {
				t.Errorf("after %d drops: nth(%d) = %d, want %d", drop, n, got, want)
			}
		}
	}
}
