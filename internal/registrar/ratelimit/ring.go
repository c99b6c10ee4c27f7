package ratelimit

// initialCapacity is the size of a new ring. It doubles as needed.
const initialCapacity = 4

// ring is a FIFO queue of the low bits of ticks. A nil ring is empty.
type ring struct {
	ticks  []uint32
	oldest int32
	used   int32
}

func (r *ring) count() int {
	if r == nil {
		return 0
	}
	return int(r.used)
}

// nth returns the n-th newest element, n from 1 to count.
func (r *ring) nth(n int) uint32 {
	i := int(r.oldest) + int(r.used) - n
	if i >= len(r.ticks) {
		i -= len(r.ticks)
	}
	return r.ticks[i]
}

// push appends an element. At capacity, which must be at least 1, it drops the oldest one.
func (r *ring) push(tick uint32, capacity int) {
	switch {
	case int(r.used) >= capacity:
		r.dropOldest()
	case int(r.used) == len(r.ticks):
		r.resize(min(capacity, max(initialCapacity, 2*len(r.ticks))))
	}
	i := int(r.oldest) + int(r.used)
	if i >= len(r.ticks) {
		i -= len(r.ticks)
	}
	r.ticks[i] = tick
	r.used++
}

func (r *ring) dropOldest() {
	r.oldest++
	if int(r.oldest) == len(r.ticks) {
		r.oldest = 0
	}
	r.used--
}

// resize moves the elements to a slice of the given capacity, which must hold them all.
func (r *ring) resize(capacity int) {
	ticks := make([]uint32, capacity)
	for i := range int(r.used) {
		ticks[i] = r.nth(int(r.used) - i)
	}
	r.ticks, r.oldest = ticks, 0
}
