package order

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// A list of transfers is entered at once, with auth codes, and may need several attempts until
// every line is right. Between them the correct lines travel through the browser, sealed: the
// codes are neither stored nor shown, and the list works for its customer only, for a day.

// ListedTransfer is a line of such a list.
type ListedTransfer struct {
	Name string // an A-label
	TLD  string
	Code string
	OK   bool // the registry has accepted it
}

// DomainName returns the parsed name.
func (t ListedTransfer) DomainName() registrar.Name {
	return registrar.NewName(strings.TrimSuffix(t.Name, t.TLD), t.TLD)
}

type transferList struct {
	At    time.Time
	Lines []ListedTransfer
}

const transferListTTL = 24 * time.Hour

// SealTransfers seals a list for the actor's account.
func (s *Service) SealTransfers(actor registrar.Actor, lines []ListedTransfer) (string, error) {
	text, err := json.Marshal(transferList{At: s.now(), Lines: lines})
	if err != nil {
		return "", err
	}
	return s.cfg.Seal.Seal(registrar.TransferListPurpose(actor.Customer), string(text)), nil
}

// OpenTransfers opens a list that was sealed for the actor's account. It returns false if the
// list is too old or is no such list.
func (s *Service) OpenTransfers(actor registrar.Actor, sealed string) ([]ListedTransfer, bool) {
	text, err := s.cfg.Seal.Open(registrar.TransferListPurpose(actor.Customer), sealed)
	if err != nil {
		return nil, false
	}
	var list transferList
	if json.Unmarshal([]byte(text), &list) != nil || s.now().Sub(list.At) > transferListTTL || len(list.Lines) > MaxPortalItems {
		return nil, false
	}
	return list.Lines, true
}
