package withdrawal

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// receiptTTL is how long the link to the receipt of a notice is valid. The link is in the history of
	// the sender's browser, which others may use; the mail has the same content.
	receiptTTL      = 24 * time.Hour
	maxReceiptLink  = 300
	maxReceiptClock = time.Hour // between nodes
)

// Seal is registrar.Seal.
type Seal interface {
	Seal(purpose, secret string) string
	Open(purpose, sealed string) (string, error)
}

// ReceiptLink returns what OpenReceipt accepts for a notice that has just been received. Nobody can
// guess it, and nothing is stored.
func (s *Service) ReceiptLink(received Notice) string {
	return s.cfg.Seal.Seal(registrar.NoticeReceiptPurpose, strconv.FormatInt(s.cfg.Clock().Unix(), 10)+" "+received.ID)
}

// OpenReceipt returns the notice of a receipt link to whoever has it; NoSuchNotice if the link has
// expired or is invalid.
func (s *Service) OpenReceipt(ctx context.Context, link string) (Notice, error) {
	if len(link) > maxReceiptLink {
		return Notice{}, registrar.NotFound(NoSuchNotice)
	}
	text, err := s.cfg.Seal.Open(registrar.NoticeReceiptPurpose, link)
	made, id, _ := strings.Cut(text, " ")
	at, malformed := strconv.ParseInt(made, 10, 64)
	if age := s.cfg.Clock().Sub(time.Unix(at, 0)); err != nil || malformed != nil || age > receiptTTL || age < -maxReceiptClock {
		return Notice{}, registrar.NotFound(NoSuchNotice)
	}
	notice, found, err := s.cfg.Store.GetWithdrawalNotice(ctx, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchNotice)
	}
	return notice, err
}
