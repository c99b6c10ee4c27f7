package order

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// spentOver is the time over which spending is added up.
	spentOver = 30 * 24 * time.Hour
	// keyLives is how long beginning a verification has the same key. A provider may
	// remember a failure under it for a day; a verification too many costs nothing,
	// because nobody has its address.
	keyLives = 5 * time.Minute
)

// needsIdentity says whether an order can be paid only after its holder has shown
// who they are. verify says that an extension wants it.
func (s *Service) needsIdentity(ctx context.Context, o Order, buyer Buyer, verify bool) (bool, error) {
	if !verify {
		over := o.Totals.Gross > s.cfg.VerifyOver
		if !over {
			spent, err := s.cfg.Store.Spent(ctx, o.Customer, o.Email, s.now().Add(-spentOver))
			if err != nil {
				return false, err
			}
			over = spent+o.Totals.Gross > s.cfg.VerifyOver
		}
		if !over {
			return false, nil
		}
	}
	identity, _, err := s.cfg.Store.IdentityOf(ctx, o.Customer)
	return !identity.proves(buyer), err
}

// overTogether says that an order which has just begun to be paid needs an identity
// together with others that have begun at the same time. Each adds up after it was
// written down, so of those that race at least the last one sees all.
func (s *Service) overTogether(ctx context.Context, o Order, buyer Buyer) (bool, error) {
	spent, err := s.cfg.Store.Spent(ctx, o.Customer, o.Email, s.now().Add(-spentOver))
	if err != nil || spent <= s.cfg.VerifyOver {
		return false, err
	}
	identity, _, err := s.cfg.Store.IdentityOf(ctx, o.Customer)
	return !identity.proves(buyer), err
}

// proves says that the identity is the registrant's.
func (i Identity) proves(buyer Buyer) bool {
	return !i.VerifiedAt.IsZero() && buyer.Told && registrar.SameName(i.Name, buyer.Name)
}

// open says that somebody has begun to show who they are.
func (i Identity) open() bool { return i.Session != "" && i.URL != "" }

// undecided says that the provider may have news: after an attempt that failed its
// page stays open for another one.
func (i Identity) undecided() bool { return i.open() || i.Session != "" && i.Failure != "" }

// Verify begins a verification, or finds the one that is open, and returns the
// provider's page. It is empty if there is nothing to be shown: the order does not
// need it any more, or the provider is still working on what was shown.
func (s *Service) Verify(ctx context.Context, actor registrar.Actor, verifySecret string) (redirect string, err error) {
	o, err := s.byVerifyLink(ctx, verifySecret)
	if err != nil {
		return "", err
	}
	if err := mayAct(actor, o); err != nil {
		return "", err
	}
	if o.State != AwaitingVerification {
		return "", nil
	}
	buyer, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
	if err != nil {
		return "", err
	}
	for range tries {
		identity, found, err := s.seeIdentity(ctx, o.Customer, s.lookVerificationLately)
		if err != nil {
			return "", err
		}
		if identity.open() || identity.proves(buyer) {
			return identity.URL, s.release(ctx, o.Customer)
		}
		url, begun, err := s.beginIdentity(ctx, identity, found, buyer, s.cfg.BaseURL+"/checkout/verify/"+verifySecret)
		if err != nil {
			return "", err
		}
		if begun {
			return url, s.watchIdentity(ctx, o)
		}
	}
	return "", errBusy()
}

// beginIdentity makes a verification. Its key is the same for everybody who begins
// at the same point, so that a repetition after a crash finds what was made.
// Another order is another point: the way back is a part of what the key stands for.
func (s *Service) beginIdentity(ctx context.Context, was Identity, found bool, buyer Buyer, back string) (url string, begun bool, err error) {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		buyer.Customer, was.Session, strconv.FormatInt(was.UpdatedAt.UnixMicro(), 10), back, s.clock().Truncate(keyLives).UTC().String(),
	}, "\n")))
	key := "idv_" + base64.RawURLEncoding.EncodeToString(sum[:18])
	call, cancel := s.calling(ctx)
	session, url, err := s.cfg.Identities.OpenVerification(call, key, buyer.Customer, buyer.Email, buyer.Language, back)
	cancel()
	if err != nil {
		return "", false, err
	}
	now := was
	now.Customer, now.Session, now.URL, now.Failure, now.UpdatedAt = buyer.Customer, session, url, "", s.now()
	var before *Identity
	if found {
		before = &was
	}
	begun, err = s.cfg.Store.SetIdentity(ctx, before, now, nil)
	return url, begun, err
}

// watchIdentity has the clock ask about a verification whose messages may be lost.
func (s *Service) watchIdentity(ctx context.Context, o Order) error {
	_, err := s.change(ctx, o, func(was Order) (Move, bool) {
		now := was.clone()
		now.Attempts = 1
		s.rest(&now)
		return Move{Order: now}, was.State == AwaitingVerification && was.Attempts == 0
	})
	return err
}

// seeIdentity is what is known of who a customer is. A verification that may have
// come further is looked at first, and what the provider says is written down.
// look is lookVerification, or for page views lookVerificationLately.
func (s *Service) seeIdentity(
	ctx context.Context, customer string, look func(ctx context.Context, session string) (Verification, error),
) (identity Identity, found bool, err error) {
	for range tries {
		identity, found, err = s.cfg.Store.IdentityOf(ctx, customer)
		if err != nil || !identity.undecided() {
			return identity, found, err
		}
		standing, err := look(ctx, identity.Session)
		if registrar.KindOf(err) == registrar.KindNotFound { // the provider has forgotten it, so it is over
			standing, err = Verification{Failed: true, Failure: registrar.CodeOf(err)}, nil
		}
		if err != nil {
			return identity, found, err
		}
		now := identity
		var deed *registrar.Deed
		switch {
		case standing.Done:
			now.URL, now.Name, now.VerifiedAt, now.Failure = "", standing.Name, s.now(), ""
			deed = &registrar.Deed{
				Actor: registrar.Actor{Kind: registrar.ActorSystem, Through: identity.Session}, Action: ActionIdentity,
				Customer: customer, Object: customer, At: s.now(),
			}
		case standing.Failed:
			now.URL, now.Failure = "", cmp.Or(standing.Failure, "not_verified")
			if now == identity {
				return identity, found, nil
			}
		case !identity.open(): // another attempt is under way where one has failed
			return identity, found, nil
		case standing.URL != "" && standing.URL != identity.URL:
			now.URL = standing.URL // the provider's pages are good for a short time each
		default:
			return identity, found, nil
		}
		now.UpdatedAt = s.now()
		stored, err := s.cfg.Store.SetIdentity(ctx, &identity, now, deed)
		if err != nil {
			return identity, found, err
		}
		if stored {
			return now, true, nil
		}
	}
	return identity, found, errBusy()
}

// lookVerification asks the provider how a verification stands.
func (s *Service) lookVerification(ctx context.Context, session string) (Verification, error) {
	call, cancel := s.calling(ctx)
	defer cancel()
	standing, err := s.cfg.Identities.LookVerification(call, session)
	if err == nil {
		s.verified.Put(session, standing)
	}
	return standing, err
}

// lookVerificationLately is lookVerification for page views: of those that come
// within LookAgain, one asks the provider and the others wait for the same answer.
func (s *Service) lookVerificationLately(ctx context.Context, session string) (Verification, error) {
	answer, err := s.verified.Ask(ctx, session, nil, func(ctx context.Context) (Verification, error) {
		return s.lookVerification(ctx, session)
	})
	return answer.Value, err
}

// lookIdentity looks at a customer's verification and lets go what it was needed for.
func (s *Service) lookIdentity(ctx context.Context, customer string) error {
	if _, _, err := s.seeIdentity(ctx, customer, s.lookVerification); err != nil {
		return err
	}
	return s.release(ctx, customer)
}

func (s *Service) heardIdentity(ctx context.Context, session string) error {
	customer, found, err := s.cfg.Store.CustomerOfVerification(ctx, session)
	if err != nil || !found {
		return err
	}
	return s.lookIdentity(ctx, customer)
}

// release lets the orders be paid that waited for an identity, if it is shown now.
func (s *Service) release(ctx context.Context, customer string) error {
	identity, found, err := s.cfg.Store.IdentityOf(ctx, customer)
	if err != nil || !found || identity.VerifiedAt.IsZero() {
		return err
	}
	buyer, err := s.cfg.Store.BuyerOf(ctx, customer)
	if err != nil || !identity.proves(buyer) {
		return err
	}
	waiting, err := s.cfg.Store.WaitingForIdentity(ctx, customer)
	if err != nil {
		return err
	}
	for _, id := range waiting {
		o, err := s.again(ctx, id)
		if err != nil {
			return err
		}
		_, err = s.change(ctx, o, func(was Order) (Move, bool) {
			now := was.clone()
			s.enter(&now, AwaitingPayment)
			return Move{Order: now}, was.State == AwaitingVerification
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// VerifyVisit is what the page at verification_url shows. For the order's customer
// an open verification is looked at.
func (s *Service) VerifyVisit(ctx context.Context, actor registrar.Actor, verifySecret string) (VerifyView, error) {
	o, err := s.byVerifyLink(ctx, verifySecret)
	if err != nil {
		return VerifyView{}, err
	}
	if o, err = s.expire(ctx, o); err != nil {
		return VerifyView{}, err
	}
	view := VerifyView{Order: o, Yours: isOwner(actor, o), Needed: o.State == AwaitingVerification, Standing: IdentityNone}
	if !view.Yours {
		return view, nil
	}
	identity, found, err := s.seeIdentity(ctx, o.Customer, s.lookVerificationLately)
	if err != nil {
		return VerifyView{}, err
	}
	if view.Needed && !identity.VerifiedAt.IsZero() {
		if err := s.release(ctx, o.Customer); err != nil {
			return VerifyView{}, err
		}
		if view.Order, err = s.again(ctx, o.ID); err != nil {
			return VerifyView{}, err
		}
		view.Needed = view.Order.State == AwaitingVerification
	}
	view.VerifiedAt = identity.VerifiedAt
	switch {
	case !found:
	case identity.open():
		view.Standing = IdentityOpen
	case identity.Failure != "":
		view.Standing, view.Failure = IdentityFailed, identity.Failure
	case !identity.VerifiedAt.IsZero() && view.Needed:
		view.Standing, view.Failure = IdentityFailed, NameMismatch
	case !identity.VerifiedAt.IsZero():
		view.Standing = IdentityVerified
	}
	return view, nil
}
