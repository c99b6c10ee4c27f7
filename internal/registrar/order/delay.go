package order

import "time"

// usualDuration is how long registrations, renewals and restores take at most, normally.
const usualDuration = 15 * time.Minute

// IsDelayed reports whether a paid order takes longer than usual. It does not matter why: the
// registry may be unreachable or decide later, or our account there may have no credit (package
// provision). Transfers take days anyway.
func (o *Order) IsDelayed(now time.Time) bool {
	if o.State != Provisioning || now.Sub(o.PaidAt) < usualDuration {
		return false
	}
	return find(o.Items, func(i Item) bool { return i.State == ItemProvisioning && i.Kind != Transfer }) != nil
}

// IsDelayed reports whether an order takes longer than usual now.
func (s *Service) IsDelayed(o Order) bool { return o.IsDelayed(s.cfg.Now()) }
