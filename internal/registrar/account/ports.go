package account

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store stores accounts and their credentials, sessions and registrants.
type Store interface {
	// ReadCustomers reads outside a transaction.
	ReadCustomers() Reader
	// UpdateCustomers runs change in one transaction and commits it if change returns
	// nil. All reads and writes of change go through the given Tx.
	UpdateCustomers(ctx context.Context, change func(Tx) error) error
}

// Reader has all queries. The boolean is false if there is no such row, and on an error.
type Reader interface {
	AccountByEmail(ctx context.Context, emailKey string) (Account, bool, error)
	AccountByID(ctx context.Context, id string) (Account, bool, error)
	AccountByHandle(ctx context.Context, userHandle string) (Account, bool, error)
	ListAccounts(ctx context.Context, id string, limit int) ([]Account, error)
	// ListOperators returns the accounts with the operator role.
	ListOperators(ctx context.Context) ([]Account, error)
	RecoveryCodesLeft(ctx context.Context, customer string) (int, error)

	// SessionByHash also returns sessions that have ended or await a code.
	SessionByHash(ctx context.Context, hash registrar.SecretHash) (StoredSession, Account, bool, error)
	// OpenSession returns a session of the account that is open at now.
	OpenSession(ctx context.Context, customer, id string, now time.Time) (Session, bool, error)
	OpenSessions(ctx context.Context, customer string, now time.Time) ([]Session, error)
	// DeviceOwner returns the account that the device has signed in to.
	DeviceOwner(ctx context.Context, hash registrar.SecretHash, now time.Time) (customer string, known bool, err error)
	GetLink(ctx context.Context, hash registrar.SecretHash, kind LinkKind, now time.Time) (Link, bool, error)
	GetChallenge(ctx context.Context, hash string, kind ChallengeKind, now time.Time) (Challenge, bool, error)

	ListPasskeys(ctx context.Context, customer string) ([]StoredPasskey, error)
	GetRegistrant(ctx context.Context, customer string) (Registrant, bool, error)
	// ListRegistrantExtensions returns the TLDs whose rules apply to the customer's
	// registrant: those of domains, of paid items in progress, and of items being paid.
	ListRegistrantExtensions(ctx context.Context, customer string) ([]string, error)
	// VerifiedName returns the name confirmed by an identity check; empty if there was none.
	VerifiedName(ctx context.Context, customer string) (string, error)
	// PaymentUnderWay reports whether a payment page of the customer is open.
	PaymentUnderWay(ctx context.Context, customer string) (bool, error)
	ListAuditEvents(ctx context.Context, customer, before string, limit int) ([]AuditEntry, error)
	CountCloseBlockers(ctx context.Context, customer string) (CloseBlockers, error)
	// HasOrdered reports whether the customer has or had a domain, or has paid for an order.
	HasOrdered(ctx context.Context, customer string) (bool, error)
}

// Tx has all changes. The boolean is false, and nothing changes, if the row has another state.
type Tx interface {
	Reader

	// LockCustomer blocks new payments, so that the result of PaymentUnderWay remains valid.
	LockCustomer(ctx context.Context, customer string) error
	// InsertAccount returns false if the address already has an account.
	InsertAccount(ctx context.Context, account Account) (bool, error)
	ConfirmAccount(ctx context.Context, id, passwordHash string, now time.Time) (bool, error)
	SetPasswordHash(ctx context.Context, id, hash string) error
	// ReplacePasswordHash returns false if the password, the second factor or the
	// operator role differs from seen, or the account is disabled.
	ReplacePasswordHash(ctx context.Context, seen Account, hash string) (bool, error)
	// DeleteUnconfirmedAccount deletes an account unless it is confirmed.
	DeleteUnconfirmedAccount(ctx context.Context, id string) (bool, error)
	// SetEmail returns false if another account has the address.
	SetEmail(ctx context.Context, id, email, emailKey string) (bool, error)
	SetLanguage(ctx context.Context, id, language string) error
	// ReplaceBasket returns false if the basket is no longer seen.
	ReplaceBasket(ctx context.Context, id, seen, basket string) (bool, error)
	Disable(ctx context.Context, id string, now time.Time) (bool, error)
	Enable(ctx context.Context, id string) (bool, error)
	// SetOperator returns false if the role already has this value or the account is unconfirmed.
	SetOperator(ctx context.Context, id string, operator bool) (bool, error)
	PutRegistrant(ctx context.Context, customer string, registrant Registrant) error
	// CloseAccount disables an account permanently, replaces its address by
	// placeholderEmail, and deletes its credentials and all data without a retention
	// obligation. It returns false if the account is already disabled.
	CloseAccount(ctx context.Context, id, placeholderEmail string, now time.Time) (bool, error)

	// SetSecondFactor replaces the sealed secret; empty means none. It returns false if
	// version is not the account's current TOTPVersion.
	SetSecondFactor(ctx context.Context, id string, version int64, sealed string, step int64) (bool, error)
	// UseTOTPStep returns false if this or a later step was used, or version is not current.
	UseTOTPStep(ctx context.Context, id string, version, step int64) (bool, error)
	ReplaceRecoveryCodes(ctx context.Context, customer string, hashes []string) error
	UseRecoveryCode(ctx context.Context, customer, hash string, now time.Time) (bool, error)
	// InsertPasskey returns false if any account has the credential.
	InsertPasskey(ctx context.Context, passkey StoredPasskey) (bool, error)
	// UsePasskey returns false if the stored credential is no longer old.
	UsePasskey(ctx context.Context, id, old, credential string, now time.Time) (bool, error)
	DeletePasskey(ctx context.Context, customer, id string) (bool, error)

	// InsertSession also ends the oldest sessions in the same state beyond keep.
	// Pending sessions can't displace open ones, because they need only the password.
	InsertSession(ctx context.Context, session StoredSession, keep int) error
	TouchSession(ctx context.Context, hash registrar.SecretHash, seen, expires time.Time) error
	// UseCodeAttempt returns false if the session does not await a code or has used maxAttempts.
	UseCodeAttempt(ctx context.Context, hash registrar.SecretHash, maxAttempts int, now time.Time) (bool, error)
	DeleteSession(ctx context.Context, hash registrar.SecretHash) (bool, error)
	DeleteSessionByID(ctx context.Context, customer, id string) (bool, error)
	// DeleteSessionsExcept ends every session except one; empty means all.
	DeleteSessionsExcept(ctx context.Context, customer, except string) error
	InsertDevice(ctx context.Context, customer string, hash registrar.SecretHash, now, expires time.Time, keep int) error
	DeleteDevices(ctx context.Context, customer string) error

	// UseLink returns false if the link is unknown, used or expired.
	UseLink(ctx context.Context, hash registrar.SecretHash, kind LinkKind, now time.Time) (Link, bool, error)
	// InsertLink also voids the unused links of its kind.
	InsertLink(ctx context.Context, hash registrar.SecretHash, kind LinkKind, link Link) error
	DeleteUnusedLinks(ctx context.Context, customer string, kind LinkKind) error
	PutChallenge(ctx context.Context, hash string, challenge Challenge) error
	// ConsumeChallenge returns a challenge once.
	ConsumeChallenge(ctx context.Context, hash string, kind ChallengeKind, now time.Time) (Challenge, bool, error)

	// DeleteExpired deletes at most limit expired rows of each kind and returns how many. Lists of
	// transfers expire in business time.
	DeleteExpired(ctx context.Context, now, business time.Time, limit int) (int, error)
	// DeleteUnconfirmed deletes accounts that were never confirmed.
	DeleteUnconfirmed(ctx context.Context, createdBefore time.Time, limit int) (int, error)

	RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error
	QueueMail(ctx context.Context, mail registrar.Mail, now time.Time) error
}

// Account is a Customer with the fields that only this package and the store see.
type Account struct {
	Customer
	EmailKey     string
	PasswordHash string
	UserHandle   string
	SealedTOTP   string
	// TOTPVersion counts the changes of the second factor. Updates compare it instead
	// of SealedTOTP, which also changes on key rotation.
	TOTPVersion int64
	TOTPStep    int64
}

// SessionState is what a session may be used for.
type SessionState string

// The states of a session; the package comment has the table.
const (
	StateSecondFactor SessionState = "second_factor"
	StateOpen         SessionState = "open"
)

// StoredSession is a Session with the fields that only this package and the store see.
type StoredSession struct {
	Session
	Hash   registrar.SecretHash
	State  SessionState
	Device registrar.SecretHash // the hash of the known device that opened the session, or empty
}

// StoredPasskey is a Passkey with the fields that only this package and the store see.
type StoredPasskey struct {
	Passkey
	Customer     string
	CredentialID string
	Credential   string // JSON: public key, counter, flags
}

// Link is the stored side of a mailed link.
type Link struct {
	Customer  string
	Email     string // the address the link was sent to
	ExpiresAt time.Time
}

// ChallengeKind is the purpose of a challenge.
type ChallengeKind string

// The challenge kinds.
const (
	ChallengeSignIn       ChallengeKind = "sign_in"
	ChallengeAddPasskey   ChallengeKind = "add_passkey"
	ChallengeSecondFactor ChallengeKind = "second_factor"
)

// Challenge is a pending challenge; it can be answered once.
type Challenge struct {
	Kind           ChallengeKind
	Customer, Data string
	ExpiresAt      time.Time
}
