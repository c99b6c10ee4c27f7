package account

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store keeps accounts and what belongs to them.
type Store interface {
	// ReadCustomers answers single questions.
	ReadCustomers() Reader
	// UpdateCustomers runs change in one transaction, which is committed if it
	// returns nil. What change asks and does goes through the given Tx only.
	UpdateCustomers(ctx context.Context, change func(Tx) error) error
}

// Reader is every question that is asked, by noun. The boolean is false where
// there is no such row.
type Reader interface {
	accountReader
	sessionReader
	objectReader
}

type accountReader interface {
	AccountByEmail(ctx context.Context, emailKey string) (Account, bool, error)
	AccountByID(ctx context.Context, id string) (Account, bool, error)
	AccountByHandle(ctx context.Context, userHandle string) (Account, bool, error)
	ListAccounts(ctx context.Context, id string, limit int) ([]Account, error)
	// ListOperators are the accounts that may open the operators' pages.
	ListOperators(ctx context.Context) ([]Account, error)
	RecoveryCodesLeft(ctx context.Context, customer string) (int, error)
}

type sessionReader interface {
	// SessionByHash also returns sessions that are over or want a code.
	SessionByHash(ctx context.Context, hash registrar.SecretHash) (StoredSession, Account, bool, error)
	// OpenSession returns one session of the account that is open at now.
	OpenSession(ctx context.Context, customer, id string, now time.Time) (Session, bool, error)
	OpenSessions(ctx context.Context, customer string, now time.Time) ([]Session, error)
	// DeviceOwner is the account that the device has signed in to.
	DeviceOwner(ctx context.Context, hash registrar.SecretHash, now time.Time) (customer string, known bool, err error)
	GetLink(ctx context.Context, hash registrar.SecretHash, kind LinkKind, now time.Time) (Link, bool, error)
	GetChallenge(ctx context.Context, hash string, kind ChallengeKind, now time.Time) (Challenge, bool, error)
}

type objectReader interface {
	ListPasskeys(ctx context.Context, customer string) ([]StoredPasskey, error)
	GetRegistrant(ctx context.Context, customer string) (Registrant, bool, error)
	// ListRegistrantExtensions are those whose rules bind the customer's registrant: of domains,
	// of what is paid and not carried out yet, and of what is being paid.
	ListRegistrantExtensions(ctx context.Context, customer string) ([]string, error)
	// VerifiedName is the name that an identity check has confirmed; empty if there
	// was none.
	VerifiedName(ctx context.Context, customer string) (string, error)
	// PaymentUnderWay says that the customer is at a page to pay at.
	PaymentUnderWay(ctx context.Context, customer string) (bool, error)
	ListAuditEvents(ctx context.Context, customer, before string, limit int) ([]AuditEntry, error)
	CountCloseBlockers(ctx context.Context, customer string) (CloseBlockers, error)
}

// Tx is every change that is made, by noun. The boolean is false where the row
// was not in the state that the change starts from: nothing was changed then.
type Tx interface {
	Reader
	accountWriter
	factorWriter
	sessionWriter
	challengeWriter
	sweeper
	RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error
	QueueMail(ctx context.Context, letter registrar.Mail, now time.Time) error
}

type accountWriter interface {
	// LockCustomer keeps everybody else from beginning a payment for the account until the
	// transaction ends, so that PaymentUnderWay stays true or false.
	LockCustomer(ctx context.Context, customer string) error
	// InsertAccount is false if the address has an account.
	InsertAccount(ctx context.Context, account Account) (bool, error)
	ConfirmAccount(ctx context.Context, id, passwordHash string, now time.Time) (bool, error)
	SetPasswordHash(ctx context.Context, id, hash string) error
	// ReplacePasswordHash is false if the password, the second factor or the
	// operator role is no longer what was seen, or the account is disabled.
	ReplacePasswordHash(ctx context.Context, seen Account, hash string) (bool, error)
	// DeleteUnconfirmedAccount deletes one account, unless it was confirmed.
	DeleteUnconfirmedAccount(ctx context.Context, id string) (bool, error)
	// SetEmail is false if another account has the address.
	SetEmail(ctx context.Context, id, email, emailKey string) (bool, error)
	SetLanguage(ctx context.Context, id, language string) error
	Disable(ctx context.Context, id string, now time.Time) (bool, error)
	Enable(ctx context.Context, id string) (bool, error)
	// SetOperator is false if the account is one already, or not any more, or has no
	// owner.
	SetOperator(ctx context.Context, id string, operator bool) (bool, error)
	PutRegistrant(ctx context.Context, customer string, registrant Registrant) error
	// CloseAccount disables an account for good, gives it the address nobody, and takes from
	// it every way in and all data that nobody has to keep. It is false if it is
	// disabled already.
	CloseAccount(ctx context.Context, id, nobody string, now time.Time) (bool, error)
}

type factorWriter interface {
	// SetSecondFactor replaces the sealed secret; empty means none. It is false if
	// version is not the account's TOTPVersion any more.
	SetSecondFactor(ctx context.Context, id string, version int64, sealed string, step int64) (bool, error)
	// UseTOTPStep is false if this time step or a later one was used before, or the second
	// factor is not that of version any more.
	UseTOTPStep(ctx context.Context, id string, version, step int64) (bool, error)
	ReplaceRecoveryCodes(ctx context.Context, customer string, hashes []string) error
	UseRecoveryCode(ctx context.Context, customer, hash string, now time.Time) (bool, error)
	// InsertPasskey is false if any account has the credential.
	InsertPasskey(ctx context.Context, passkey StoredPasskey) (bool, error)
	// UsePasskey is false if the credential has changed meanwhile.
	UsePasskey(ctx context.Context, id, old, credential string, now time.Time) (bool, error)
	DeletePasskey(ctx context.Context, customer, id string) (bool, error)
}

type sessionWriter interface {
	// InsertSession also ends the oldest ones in the same state if there are more
	// than keep: who knows the password alone must not end open sessions.
	InsertSession(ctx context.Context, session StoredSession, keep int) error
	TouchSession(ctx context.Context, hash registrar.SecretHash, seen, expires time.Time) error
	// UseCodeAttempt is false if the session does not want a code, or has had most.
	UseCodeAttempt(ctx context.Context, hash registrar.SecretHash, most int, now time.Time) (bool, error)
	DeleteSession(ctx context.Context, hash registrar.SecretHash) (bool, error)
	DeleteSessionByID(ctx context.Context, customer, id string) (bool, error)
	// DeleteSessionsExcept ends every session but one; empty means all.
	DeleteSessionsExcept(ctx context.Context, customer, except string) error
	InsertDevice(ctx context.Context, customer string, hash registrar.SecretHash, now, expires time.Time, keep int) error
	DeleteDevices(ctx context.Context, customer string) error
}

type challengeWriter interface {
	// UseLink is false if the link is unknown, used or too old.
	UseLink(ctx context.Context, hash registrar.SecretHash, kind LinkKind, now time.Time) (Link, bool, error)
	// InsertLink voids the unused ones of its kind.
	InsertLink(ctx context.Context, hash registrar.SecretHash, kind LinkKind, link Link) error
	DeleteUnusedLinks(ctx context.Context, customer string, kind LinkKind) error
	PutChallenge(ctx context.Context, hash string, challenge Challenge) error
	// ConsumeChallenge returns a ceremony once.
	ConsumeChallenge(ctx context.Context, hash string, kind ChallengeKind, now time.Time) (Challenge, bool, error)
}

type sweeper interface {
	// DeleteExpired deletes at most limit rows of each kind that are over, and
	// returns how many it deleted.
	DeleteExpired(ctx context.Context, now time.Time, limit int) (int, error)
	// DeleteUnconfirmed deletes accounts that nobody has confirmed.
	DeleteUnconfirmed(ctx context.Context, madeBefore time.Time, limit int) (int, error)
}

// Account is a customer with what only this package and the store see.
type Account struct {
	Customer
	EmailKey     string
	PasswordHash string
	UserHandle   string
	SealedTOTP   string
	// TOTPVersion counts the changes of the second factor. Updates compare it and not
	// SealedTOTP, which also changes when a key is rotated.
	TOTPVersion int64
	TOTPStep    int64
}

// SessionState says what a session is good for.
type SessionState string

// The states of a session; the package comment has the table.
const (
	StateSecondFactor SessionState = "second_factor"
	StateOpen         SessionState = "open"
)

// StoredSession is a session with what only this package and the store see.
type StoredSession struct {
	Session
	Hash  registrar.SecretHash
	State SessionState
	// Device is the hash of the known device that the session began at, or empty.
	Device registrar.SecretHash
}

// StoredPasskey is a passkey with what only this package and the store see.
type StoredPasskey struct {
	Passkey
	Customer     string
	CredentialID string
	// Credential is JSON: public key, counter, flags.
	Credential string
}

// Link is what a link in a mail stands for.
type Link struct {
	Customer string
	// Email is the address that it was sent to.
	Email     string
	ExpiresAt time.Time
}

// ChallengeKind says what a ceremony is about.
type ChallengeKind string

// The ceremonies.
const (
	ChallengeSignIn       ChallengeKind = "sign_in"
	ChallengeAddPasskey   ChallengeKind = "add_passkey"
	ChallengeSecondFactor ChallengeKind = "second_factor"
)

// Challenge is what was asked of a browser, until it is answered once.
type Challenge struct {
	Kind      ChallengeKind
	Customer  string
	Data      string
	ExpiresAt time.Time
}
