-- One text for SQLite and PostgreSQL. Times are microseconds since 1970 (BIGINT),
-- ids and JSON are TEXT, booleans are a BIGINT of 0 or 1, money is whole cents.
-- Secrets are stored as hashes only; what must be readable again (columns named
-- *_sealed) is encrypted with a key that is not in the database.

-- +goose Up

-- Which programs may run on each version of the schema; see doc.go. Every migration
-- inserts its row.
CREATE TABLE schema_compatibility (
    version         BIGINT NOT NULL PRIMARY KEY,
    compatible_from BIGINT NOT NULL -- programs that know this migration may run on version
);
INSERT INTO schema_compatibility (version, compatible_from) VALUES (1, 1);

-- Accounts.

CREATE TABLE customers (
    id            TEXT   NOT NULL PRIMARY KEY,
    email         TEXT   NOT NULL, -- as the customer writes it
    email_key     TEXT   NOT NULL, -- case-folded, for comparison
    password_hash TEXT   NOT NULL DEFAULT '', -- PHC string; empty: passkeys only, or not chosen yet
    user_handle   TEXT   NOT NULL, -- WebAuthn user handle: random, identifies no person
    language      TEXT   NOT NULL, -- de or en
    totp_sealed   TEXT   NOT NULL DEFAULT '', -- empty: no second factor
    totp_step     BIGINT NOT NULL DEFAULT 0, -- the last time step used, so that no code works twice
    token_count   BIGINT NOT NULL DEFAULT 0, -- active personal access tokens; counted here so that concurrent requests can't exceed the limit
    created_at    BIGINT NOT NULL,
    confirmed_at  BIGINT NOT NULL DEFAULT 0, -- 0: the address is not confirmed
    disabled_at   BIGINT NOT NULL DEFAULT 0, -- 0: not disabled
    guest         BIGINT NOT NULL DEFAULT 0, -- 1: account of a buyer without one; nobody can sign in until it is claimed
    operator      BIGINT NOT NULL DEFAULT 0, -- 1: may open the operator pages
    totp_version  BIGINT NOT NULL DEFAULT 0 -- counts changes of the second factor; totp_sealed can't be compared, because key rotation rewrites it
);
CREATE UNIQUE INDEX customers_email_key ON customers (email_key);
CREATE UNIQUE INDEX customers_user_handle ON customers (user_handle);
-- For deleting accounts whose address was never confirmed.
CREATE INDEX customers_unconfirmed ON customers (created_at) WHERE confirmed_at = 0;
-- For deleting guest accounts that were never claimed and never paid.
CREATE INDEX customers_guest ON customers (created_at) WHERE guest = 1;
CREATE INDEX customers_operator ON customers (id) WHERE operator = 1;

CREATE TABLE registrants (
    customer_id  TEXT   NOT NULL PRIMARY KEY REFERENCES customers (id),
    kind         TEXT   NOT NULL, -- person or company
    name         TEXT   NOT NULL,
    organisation TEXT   NOT NULL,
    street       TEXT   NOT NULL,
    postal_code  TEXT   NOT NULL,
    city         TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    country      TEXT   NOT NULL, -- ISO 3166-1 alpha-2
    phone        TEXT   NOT NULL, -- EPP format, +49.30123456
    vat_id       TEXT   NOT NULL,
    updated_at   BIGINT NOT NULL
);

CREATE TABLE identities (
    customer_id TEXT   NOT NULL PRIMARY KEY REFERENCES customers (id),
    session     TEXT   NOT NULL DEFAULT '', -- the provider's verification session
    url         TEXT   NOT NULL DEFAULT '',
    name        TEXT   NOT NULL DEFAULT '', -- the verified name
    verified_at BIGINT NOT NULL DEFAULT 0,
    failure     TEXT   NOT NULL DEFAULT '',
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX identities_session ON identities (session) WHERE session <> '';

-- Signing in.

CREATE TABLE recovery_codes (
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    hash        TEXT   NOT NULL,
    used_at     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (customer_id, hash)
);

CREATE TABLE passkeys (
    id            TEXT   NOT NULL PRIMARY KEY, -- ours, for pages and audit events
    customer_id   TEXT   NOT NULL REFERENCES customers (id),
    credential_id TEXT   NOT NULL, -- the authenticator's, base64url
    credential    TEXT   NOT NULL, -- JSON: public key, counter, flags
    name          TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX passkeys_credential_id ON passkeys (credential_id);
CREATE INDEX passkeys_customer ON passkeys (customer_id, id);

-- WebAuthn challenges that are not answered yet. Each is consumed once.
CREATE TABLE webauthn_challenges (
    hash        TEXT   NOT NULL PRIMARY KEY,
    kind        TEXT   NOT NULL, -- sign_in, add_passkey or second_factor
    customer_id TEXT   NOT NULL, -- empty: the passkey identifies the account
    data        TEXT   NOT NULL,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX webauthn_challenges_expires ON webauthn_challenges (expires_at);

CREATE TABLE sessions (
    hash             TEXT   NOT NULL PRIMARY KEY,
    id               TEXT   NOT NULL, -- for pages and audit events
    customer_id      TEXT   NOT NULL REFERENCES customers (id),
    state            TEXT   NOT NULL, -- second_factor: password accepted, code missing; open: signed in
    address          TEXT   NOT NULL,
    user_agent       TEXT   NOT NULL, -- shortened
    device           TEXT   NOT NULL, -- hash of the known device it started on; empty: a new one
    attempts         BIGINT NOT NULL DEFAULT 0, -- second factor codes tried
    created_at       BIGINT NOT NULL,
    authenticated_at BIGINT NOT NULL, -- the last time credentials were checked
    seen_at          BIGINT NOT NULL,
    expires_at       BIGINT NOT NULL,
    auth_method      TEXT   NOT NULL DEFAULT '' -- password, password_and_code, passkey or link
);
CREATE INDEX sessions_customer ON sessions (customer_id, id);
CREATE INDEX sessions_expires ON sessions (expires_at);

-- Browsers that have signed in to an account before. They grant no access: wrong
-- passwords from them have a rate limit of their own.
CREATE TABLE devices (
    hash        TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX devices_customer ON devices (customer_id, created_at);
CREATE INDEX devices_expires ON devices (expires_at);

CREATE TABLE personal_access_tokens (
    id           TEXT   NOT NULL PRIMARY KEY,
    customer_id  TEXT   NOT NULL REFERENCES customers (id),
    name         TEXT   NOT NULL,
    hash         TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL DEFAULT 0,
    revoked_at   BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX personal_access_tokens_hash ON personal_access_tokens (hash);
CREATE INDEX personal_access_tokens_customer ON personal_access_tokens (customer_id, id);
-- A customer may have many revoked tokens, but only a few active ones.
CREATE INDEX personal_access_tokens_active ON personal_access_tokens (customer_id, id) WHERE revoked_at = 0;

-- Mail.

-- Links in mails: confirm, reset, change_email.
CREATE TABLE links (
    hash        TEXT   NOT NULL PRIMARY KEY,
    kind        TEXT   NOT NULL,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    email       TEXT   NOT NULL, -- the address the link was sent to
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX links_customer ON links (customer_id, kind);
CREATE INDEX links_expires ON links (expires_at);

-- The mail queue. A row holds no secret: a link is created when its mail is sent,
-- and only its hash is stored.
CREATE TABLE mails (
    id           TEXT   NOT NULL PRIMARY KEY,
    kind         TEXT   NOT NULL,
    customer_id  TEXT   NOT NULL, -- empty: to an address without an account
    recipient    TEXT   NOT NULL,
    language     TEXT   NOT NULL,
    data         TEXT   NOT NULL, -- JSON: template data
    created_at   BIGINT NOT NULL,
    due_at       BIGINT NOT NULL, -- while leased, the end of the lease
    attempts     BIGINT NOT NULL DEFAULT 0,
    node         TEXT   NOT NULL DEFAULT '' -- the node that holds the lease
);
CREATE INDEX mails_due ON mails (due_at);
CREATE INDEX mails_customer ON mails (customer_id, kind);
CREATE INDEX mails_retrying ON mails (attempts, id) WHERE attempts > 0;
-- Releases the leases of a node that restarts after a crash.
CREATE INDEX mails_node ON mails (node) WHERE node <> '';

-- OAuth.

-- Clients. Dynamic ones registered themselves; the id of a document client is the
-- URL of its metadata document.
CREATE TABLE clients (
    id            TEXT   NOT NULL PRIMARY KEY,
    kind          TEXT   NOT NULL, -- dynamic or document
    name          TEXT   NOT NULL, -- chosen by the client: unverified
    redirect_uris TEXT   NOT NULL, -- JSON array of strings
    auth_method   TEXT   NOT NULL, -- none or client_secret_post
    secret_hash   TEXT   NOT NULL DEFAULT '', -- empty: a public client
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL -- the last registration, approval or redemption
);
CREATE INDEX clients_last_used ON clients (last_used_at);

-- Pending consent pages. Each is answered once, in the session that opened it.
CREATE TABLE consents (
    hash        TEXT   NOT NULL PRIMARY KEY,
    session_id  TEXT   NOT NULL,
    customer_id TEXT   NOT NULL,
    request     TEXT   NOT NULL, -- JSON: the authorization request
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX consents_session ON consents (session_id, expires_at);
CREATE INDEX consents_expires ON consents (expires_at);

-- Used codes stay for a while: a second redemption indicates theft.
CREATE TABLE authorization_codes (
    hash         TEXT   NOT NULL PRIMARY KEY,
    client_id    TEXT   NOT NULL,
    client_name  TEXT   NOT NULL,
    customer_id  TEXT   NOT NULL REFERENCES customers (id),
    redirect_uri TEXT   NOT NULL,
    challenge    TEXT   NOT NULL, -- PKCE, S256
    scope        TEXT   NOT NULL,
    resource     TEXT   NOT NULL,
    expires_at   BIGINT NOT NULL,
    used_at      BIGINT NOT NULL DEFAULT 0,
    grant_id     TEXT   NOT NULL DEFAULT '' -- the grant it was redeemed for; empty: none
);
CREATE INDEX authorization_codes_customer ON authorization_codes (customer_id, client_id);
CREATE INDEX authorization_codes_expires ON authorization_codes (expires_at);

-- A grant is one connection of a client to a customer: the family of all tokens
-- that come from one code. Tokens are valid only while their grant is, so revoking
-- it is one update, and tokens need no foreign key that an index would have to serve.
CREATE TABLE grants (
    id             TEXT   NOT NULL PRIMARY KEY,
    customer_id    TEXT   NOT NULL REFERENCES customers (id),
    client_id      TEXT   NOT NULL REFERENCES clients (id),
    client_name    TEXT   NOT NULL,
    redirect_uri   TEXT   NOT NULL,
    scope          TEXT   NOT NULL,
    resource       TEXT   NOT NULL,
    generation     BIGINT NOT NULL, -- that of the newest refresh token
    created_at     BIGINT NOT NULL,
    last_used_at   BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL, -- that of the newest refresh token, or the time of revocation
    revoked_at     BIGINT NOT NULL DEFAULT 0,
    -- A refresh token is valid while its epoch equals that of its grant. Refresh
    -- tokens issued within the reuse leeway are siblings; the first one used after
    -- siblings_until starts the next epoch, which revokes the others.
    epoch          BIGINT NOT NULL DEFAULT 0,
    siblings_until BIGINT NOT NULL DEFAULT 0 -- 0: no refresh token has siblings
);
CREATE INDEX grants_customer ON grants (customer_id, client_id);
CREATE INDEX grants_client ON grants (client_id);
CREATE INDEX grants_expires ON grants (expires_at);

CREATE TABLE access_tokens (
    hash       TEXT   NOT NULL PRIMARY KEY,
    grant_id   TEXT   NOT NULL,
    scope      TEXT   NOT NULL, -- may be narrower than the grant's
    expires_at BIGINT NOT NULL
);
CREATE INDEX access_tokens_expires ON access_tokens (expires_at);

CREATE TABLE refresh_tokens (
    hash       TEXT   NOT NULL PRIMARY KEY,
    grant_id   TEXT   NOT NULL,
    generation BIGINT NOT NULL, -- 1, and one more with each rotation
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0,
    reuses     BIGINT NOT NULL DEFAULT 0, -- within the leeway; limited
    epoch      BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);

-- Domains.

CREATE TABLE domains (
    id               TEXT   NOT NULL PRIMARY KEY,
    customer_id      TEXT   NOT NULL REFERENCES customers (id),
    name             TEXT   NOT NULL, -- A-labels, lower case
    tld              TEXT   NOT NULL, -- with its leading dot
    status           TEXT   NOT NULL, -- active, pending, expired, redemption, transit, transferred_out
    paid_until       BIGINT NOT NULL DEFAULT 0, -- 0: not paid yet
    auto_renew       BIGINT NOT NULL DEFAULT 0,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    account          TEXT   NOT NULL DEFAULT '', -- the registry account; empty: not registered through one of ours
    handle           TEXT   NOT NULL DEFAULT '', -- the registrant's contact at the registry
    code_sealed      TEXT   NOT NULL DEFAULT '', -- the auth code it was registered with
    registry_status  TEXT   NOT NULL DEFAULT '', -- EPP statuses, separated by spaces
    registry_expires BIGINT NOT NULL DEFAULT 0,
    synced_at        BIGINT NOT NULL DEFAULT 0,
    sync_due         BIGINT NOT NULL DEFAULT 0, -- 0: only on request
    expiry_notice    BIGINT NOT NULL DEFAULT 0 -- the last notice sent for this term: 0 none, 1 a month before its end, 2 a week before, 3 after it; a renewal resets it
);
CREATE INDEX domains_customer ON domains (customer_id, name);
-- A domain that was transferred out may come back, to the same customer or another.
CREATE UNIQUE INDEX domains_held ON domains (name) WHERE status <> 'transferred_out';
CREATE INDEX domains_sync ON domains (sync_due) WHERE sync_due > 0;
CREATE INDEX domains_name ON domains (name, id);
-- The predicate is <> 0, not > 0: PostgreSQL estimates a range with both bounds as
-- so selective that it would choose another plan as the table grows.
CREATE INDEX domains_expiring ON domains (expiry_notice, paid_until) WHERE status = 'active' AND paid_until <> 0;

-- One row is one paid item and the whole state of its provisioning: there is no
-- separate queue.
CREATE TABLE provision_items (
    id           TEXT   NOT NULL PRIMARY KEY,
    customer_id  TEXT   NOT NULL REFERENCES customers (id),
    name         TEXT   NOT NULL, -- A-labels, lower case
    tld          TEXT   NOT NULL, -- with its leading dot
    kind         TEXT   NOT NULL, -- register, transfer or renew
    years        BIGINT NOT NULL,
    payment      TEXT   NOT NULL, -- order: and the order's id, or manual: and a reference
    state        TEXT   NOT NULL, -- package provision has the transitions
    failure      TEXT   NOT NULL DEFAULT '', -- a code; empty: not refused
    refund_due   BIGINT NOT NULL DEFAULT 0,
    account      TEXT   NOT NULL, -- the registry account's name in the configuration
    domain_id    TEXT   NOT NULL DEFAULT '', -- empty: no domain row yet
    handle       TEXT   NOT NULL DEFAULT '', -- the contact at the registry; empty: none
    code_sealed  TEXT   NOT NULL DEFAULT '', -- the auth code
    requested_at BIGINT NOT NULL, -- when the intent of the current state was stored
    due_at       BIGINT NOT NULL, -- 0: finished; while leased, the end of the lease
    node         TEXT   NOT NULL DEFAULT '', -- the node that holds the lease
    attempts     BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    renew_from   BIGINT NOT NULL DEFAULT 0, -- the registry expiry before a renewal, which tells whether it took effect
    registrant   TEXT   NOT NULL DEFAULT '' -- JSON: the registrant approved with the order; empty once finished
);
-- A payment pays for a name once.
CREATE UNIQUE INDEX provision_items_payment ON provision_items (payment, name);
-- A name has one open item at a time.
CREATE UNIQUE INDEX provision_items_open ON provision_items (name) WHERE due_at > 0;
CREATE INDEX provision_items_due ON provision_items (due_at) WHERE due_at > 0;
CREATE INDEX provision_items_node ON provision_items (node) WHERE node <> '';
CREATE INDEX provision_items_name ON provision_items (name, id);
CREATE INDEX provision_items_customer ON provision_items (customer_id, id);
CREATE INDEX provision_items_retrying ON provision_items (attempts, id) WHERE due_at > 0 AND attempts > 0;

-- Changes of domains that are applied at registries.
CREATE TABLE domain_changes (
    id          TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    domain_id   TEXT   NOT NULL,
    name        TEXT   NOT NULL, -- A-labels, lower case
    tld         TEXT   NOT NULL, -- with its leading dot
    account     TEXT   NOT NULL, -- the registry account's name in the configuration
    kind        TEXT   NOT NULL, -- package domain has the kinds
    desired     TEXT   NOT NULL, -- JSON: the state to reach
    handle      TEXT   NOT NULL DEFAULT '', -- the new contact
    old_handle  TEXT   NOT NULL DEFAULT '', -- the contact it replaces
    code_sealed TEXT   NOT NULL DEFAULT '', -- the auth code, until it is set
    state       TEXT   NOT NULL, -- open, pending, done, refused
    failure     TEXT   NOT NULL DEFAULT '', -- a code; empty: not refused
    by_kind     TEXT   NOT NULL, -- the actor who requested it
    by_id       TEXT   NOT NULL,
    by_address  TEXT   NOT NULL,
    due_at      BIGINT NOT NULL, -- 0: finished; while leased, the end of the lease
    node        TEXT   NOT NULL DEFAULT '', -- the node that holds the lease
    attempts    BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
-- A domain has one open change at a time.
CREATE UNIQUE INDEX domain_changes_open ON domain_changes (domain_id) WHERE due_at > 0;
CREATE INDEX domain_changes_due ON domain_changes (due_at) WHERE due_at > 0;
CREATE INDEX domain_changes_node ON domain_changes (node) WHERE node <> '';
CREATE INDEX domain_changes_domain ON domain_changes (domain_id, id);
CREATE INDEX domain_changes_customer ON domain_changes (customer_id, id);
CREATE INDEX domain_changes_retrying ON domain_changes (attempts, id) WHERE due_at > 0 AND attempts > 0;

-- The last known registry data of each domain.
CREATE TABLE registry_records (
    domain_id TEXT   NOT NULL PRIMARY KEY,
    data      TEXT   NOT NULL, -- JSON: statuses, nameservers, DS records, dates, the registrant's handle
    read_at   BIGINT NOT NULL
);

-- EPP poll messages, stored before they are acknowledged.
CREATE TABLE registry_messages (
    account   TEXT   NOT NULL,
    id        TEXT   NOT NULL, -- the registry's
    name      TEXT   NOT NULL, -- the domain it is about; empty: something else
    text      TEXT   NOT NULL,
    queued_at BIGINT NOT NULL,
    stored_at BIGINT NOT NULL,
    PRIMARY KEY (account, id)
);

-- What a dispute, a court order or abuse forbids for a domain.
CREATE TABLE domain_locks (
    id           TEXT   NOT NULL PRIMARY KEY,
    domain_id    TEXT   NOT NULL,
    customer_id  TEXT   NOT NULL, -- the domain's customer; follows a claim
    name         TEXT   NOT NULL, -- A-labels, lower case
    cause        TEXT   NOT NULL, -- chargeback, udrp, court or abuse
    reason       TEXT   NOT NULL, -- the operator's text; the customer sees it
    reference    TEXT   NOT NULL, -- the other party's case number; empty: none
    restrictions TEXT   NOT NULL, -- transfer, nameservers, renewal; separated by spaces
    review_at    BIGINT NOT NULL, -- when an operator has to review it; it stays until lifted
    set_by       TEXT   NOT NULL,
    set_at       BIGINT NOT NULL,
    lifted_by    TEXT   NOT NULL DEFAULT '',
    lifted_at    BIGINT NOT NULL DEFAULT 0 -- 0: active
);
CREATE INDEX domain_locks_domain ON domain_locks (domain_id) WHERE lifted_at = 0;
CREATE INDEX domain_locks_review ON domain_locks (review_at, id) WHERE lifted_at = 0;
CREATE INDEX domain_locks_lifted ON domain_locks (lifted_at, id) WHERE lifted_at > 0;
CREATE INDEX domain_locks_customer ON domain_locks (customer_id, id);

-- Agents.

CREATE TABLE agents (
    id              TEXT   NOT NULL PRIMARY KEY,
    name            TEXT   NOT NULL, -- chosen by the operator; customers see it
    profile         TEXT   NOT NULL, -- how it signs: ours, body or canonical
    key_hash        TEXT   NOT NULL, -- of its bearer key
    webhook_url     TEXT   NOT NULL DEFAULT '', -- empty: no webhooks
    webhook_version TEXT   NOT NULL DEFAULT '', -- the protocol version of the payload; empty: the newest
    webhook_sealed  TEXT   NOT NULL DEFAULT '', -- the secret that webhooks are signed with
    created_at      BIGINT NOT NULL,
    removed_at      BIGINT NOT NULL DEFAULT 0 -- 0: live
);
CREATE UNIQUE INDEX agents_key ON agents (key_hash);
CREATE UNIQUE INDEX agents_name ON agents (name) WHERE removed_at = 0;
CREATE INDEX agents_live ON agents (profile, id) WHERE removed_at = 0;

-- Signing secrets of agents. At most two are live, so that an agent can rotate.
CREATE TABLE agent_secrets (
    id         TEXT   NOT NULL PRIMARY KEY,
    agent_id   TEXT   NOT NULL REFERENCES agents (id),
    sealed     TEXT   NOT NULL, -- verification needs the secret itself, so a hash is not enough
    created_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL DEFAULT 0 -- 0: live
);
CREATE INDEX agent_secrets_agent ON agent_secrets (agent_id, id);

-- Customers who allow an agent to read and pay their orders. Unlinking deletes the
-- row; the audit events remain.
CREATE TABLE agent_links (
    customer_id TEXT   NOT NULL REFERENCES customers (id),
    agent_id    TEXT   NOT NULL REFERENCES agents (id),
    by_kind     TEXT   NOT NULL, -- person or operator
    by_id       TEXT   NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (customer_id, agent_id)
);
CREATE INDEX agent_links_agent ON agent_links (agent_id, customer_id);

-- Signatures of completion requests until they expire: each is valid for one path.
CREATE TABLE seen_signatures (
    agent_id TEXT   NOT NULL,
    mac      TEXT   NOT NULL, -- the decoded signature, so that another encoding of it counts as the same
    path     TEXT   NOT NULL,
    ends_at  BIGINT NOT NULL,
    PRIMARY KEY (agent_id, mac)
);
CREATE INDEX seen_signatures_ends ON seen_signatures (ends_at);

-- Requests with an Idempotency-Key, and their responses.
CREATE TABLE idempotency_keys (
    scope           TEXT   NOT NULL, -- hash of the agent and the path
    key             TEXT   NOT NULL, -- hash of the key
    body_hash       TEXT   NOT NULL, -- of the body's canonical form
    run             TEXT   NOT NULL, -- identifies the execution that owns the row
    status          BIGINT NOT NULL DEFAULT 0, -- HTTP status; 0: still executing
    headers         TEXT   NOT NULL DEFAULT '', -- JSON
    response_sealed TEXT   NOT NULL DEFAULT '',
    lease_ends      BIGINT NOT NULL, -- when another execution may take over an unfinished one
    ends_at         BIGINT NOT NULL,
    node            TEXT   NOT NULL DEFAULT '', -- the node that holds the lease
    PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_keys_ends ON idempotency_keys (ends_at);
CREATE INDEX idempotency_keys_node ON idempotency_keys (node) WHERE node <> '';

-- Orders.

CREATE TABLE orders (
    id              TEXT   NOT NULL PRIMARY KEY,
    customer_id     TEXT   NOT NULL REFERENCES customers (id),
    email_key       TEXT   NOT NULL, -- the account's address at that time, case-folded
    state           TEXT   NOT NULL, -- package order has the transitions
    channel         TEXT   NOT NULL, -- package order has the channels
    by_kind         TEXT   NOT NULL, -- the actor who created it: person, token, application
    by_id           TEXT   NOT NULL,
    by_address      TEXT   NOT NULL,
    by_name         TEXT   NOT NULL, -- the token's or application's name at that time
    items_key       TEXT   NOT NULL, -- equal for equal items
    net             BIGINT NOT NULL,
    vat             BIGINT NOT NULL,
    gross           BIGINT NOT NULL,
    vat_rate        BIGINT NOT NULL, -- hundredths of a percent
    vat_rule        TEXT   NOT NULL,
    vat_country     TEXT   NOT NULL,
    vat_id          TEXT   NOT NULL,
    vat_unchecked   BIGINT NOT NULL,
    pay_link        TEXT   NOT NULL, -- a hash
    pay_sealed      TEXT   NOT NULL, -- the link's secret, so that it can be shown again
    verify_link     TEXT   NOT NULL, -- a hash; empty: no identity verification was needed yet
    verify_sealed   TEXT   NOT NULL,
    auto_renew      BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    paid_at         BIGINT NOT NULL DEFAULT 0,
    version         BIGINT NOT NULL DEFAULT 1, -- for optimistic locking
    due_at          BIGINT NOT NULL DEFAULT 0, -- 0: no work to do; while leased, the end of the lease
    node            TEXT   NOT NULL DEFAULT '', -- the node that holds the lease
    attempts        BIGINT NOT NULL DEFAULT 0,
    open_order      BIGINT NOT NULL, -- 1 while it can be paid: for the partial indexes
    agent_id        TEXT   NOT NULL DEFAULT '', -- the agent whose checkout session it is; empty: none
    completer_id    TEXT   NOT NULL DEFAULT '', -- the agent that pays an order its customer created
    contact         TEXT   NOT NULL DEFAULT '', -- JSON: the buyer as given by the agent; empty: none
    claimed         BIGINT NOT NULL DEFAULT 1, -- 0: it belongs to a guest account
    claim_mailed_at BIGINT NOT NULL DEFAULT 0, -- when a claim mail was last queued
    consent_at      BIGINT NOT NULL DEFAULT 0, -- when the consumer requested performance within the withdrawal period; 0: never
    consent_wording TEXT   NOT NULL DEFAULT '', -- the version of the consent text; package order has the texts
    registrant      TEXT   NOT NULL DEFAULT '' -- JSON: the approved registrant, which provisioning uses whatever the account says by then; empty unless paying or provisioning
);
CREATE UNIQUE INDEX orders_pay_link ON orders (pay_link);
CREATE UNIQUE INDEX orders_verify_link ON orders (verify_link) WHERE verify_link <> '';
-- A customer has one open order for the same items.
CREATE UNIQUE INDEX orders_open ON orders (customer_id, items_key) WHERE open_order = 1;
CREATE INDEX orders_customer ON orders (customer_id, id);
CREATE INDEX orders_due ON orders (due_at) WHERE due_at > 0;
CREATE INDEX orders_node ON orders (node) WHERE node <> '';
CREATE INDEX orders_retrying ON orders (attempts, id) WHERE due_at > 0 AND attempts > 0;
-- Recent payments by account, by address, and by VAT rule for the threshold. The
-- indexes contain the amounts, so sums over many orders don't read the table.
CREATE INDEX orders_spent ON orders (customer_id, paid_at, gross) WHERE paid_at > 0;
CREATE INDEX orders_spent_email ON orders (email_key, paid_at, gross) WHERE paid_at > 0;
CREATE INDEX orders_vat_rule ON orders (vat_rule, paid_at, net) WHERE paid_at > 0;
CREATE INDEX orders_agent ON orders (agent_id, id) WHERE agent_id <> '';
CREATE INDEX orders_agent_open ON orders (agent_id) WHERE open_order = 1 AND agent_id <> '';

CREATE TABLE order_items (
    id                TEXT   NOT NULL PRIMARY KEY,
    order_id          TEXT   NOT NULL REFERENCES orders (id),
    position          BIGINT NOT NULL,
    name              TEXT   NOT NULL,
    tld               TEXT   NOT NULL,
    kind              TEXT   NOT NULL, -- register, transfer or renew
    years             BIGINT NOT NULL,
    net               BIGINT NOT NULL,
    vat               BIGINT NOT NULL,
    gross             BIGINT NOT NULL,
    account           TEXT   NOT NULL,
    provision_item_id TEXT   NOT NULL DEFAULT '', -- empty: not provisioned yet
    domain_id         TEXT   NOT NULL DEFAULT '',
    code_sealed       TEXT   NOT NULL DEFAULT '',
    state             TEXT   NOT NULL,
    failure           TEXT   NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX order_items_position ON order_items (order_id, position);
CREATE INDEX order_items_provision_item ON order_items (provision_item_id) WHERE provision_item_id <> '';
-- A withdrawal notice names an order or a domain.
CREATE INDEX order_items_name ON order_items (name, order_id);

-- Webhooks about orders: one row per order, written in the transaction of the event
-- it reports. The payload is built when it is sent.
CREATE TABLE webhook_deliveries (
    order_id        TEXT   NOT NULL PRIMARY KEY REFERENCES orders (id),
    agent_id        TEXT   NOT NULL REFERENCES agents (id),
    event_count     BIGINT NOT NULL, -- events so far
    delivered_count BIGINT NOT NULL, -- events covered by delivered webhooks; 0: the agent doesn't know the order yet
    pending_since   BIGINT NOT NULL, -- when the first undelivered event happened
    due_at          BIGINT NOT NULL, -- 0: nothing to deliver; while leased, the end of the lease
    attempts        BIGINT NOT NULL DEFAULT 0,
    node            TEXT   NOT NULL DEFAULT '' -- the node that holds the lease
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE due_at > 0;
CREATE INDEX webhook_deliveries_retrying ON webhook_deliveries (attempts, order_id) WHERE due_at > 0 AND attempts > 0;
CREATE INDEX webhook_deliveries_node ON webhook_deliveries (node) WHERE node <> '';

-- Withdrawal and termination notices, received without signing in. Package
-- withdrawal says what is checked and what is not. Rows are added, and marked once
-- they are handled.
CREATE TABLE withdrawal_notices (
    id         TEXT   NOT NULL PRIMARY KEY,
    kind       TEXT   NOT NULL, -- withdrawal or termination
    name       TEXT   NOT NULL,
    email      TEXT   NOT NULL,
    contract   TEXT   NOT NULL, -- as the sender describes it
    ground     TEXT   NOT NULL, -- of a termination: ordinary or extraordinary
    reason     TEXT   NOT NULL,
    end_day    TEXT   NOT NULL, -- empty: as soon as possible
    language   TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    done_at    BIGINT NOT NULL DEFAULT 0
);
-- A customer's data export includes the notices sent from their address.
CREATE INDEX withdrawal_notices_email ON withdrawal_notices (lower(email), id);

-- Payments.

CREATE TABLE payments (
    id          TEXT   NOT NULL PRIMARY KEY, -- also the idempotency key at the provider
    order_id    TEXT   NOT NULL REFERENCES orders (id),
    customer_id TEXT   NOT NULL, -- the order's
    state       TEXT   NOT NULL,
    amount      BIGINT NOT NULL,
    session     TEXT   NOT NULL DEFAULT '', -- the provider's checkout session
    url         TEXT   NOT NULL DEFAULT '',
    intent      TEXT   NOT NULL DEFAULT '', -- the provider's payment intent
    card        TEXT   NOT NULL DEFAULT '', -- the provider's card fingerprint
    created_at  BIGINT NOT NULL,
    ends_at     BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    kind        TEXT   NOT NULL DEFAULT 'page', -- page: on the provider's page; token: with a token of the buyer's, which is not stored
    failure     TEXT   NOT NULL DEFAULT '' -- why a token payment failed: a code
);
CREATE INDEX payments_order ON payments (order_id, id);
CREATE UNIQUE INDEX payments_session ON payments (session) WHERE session <> '';
CREATE INDEX payments_intent ON payments (intent) WHERE intent <> '';
-- Recent payments by card, and the cards that an account has paid with.
CREATE INDEX payments_card ON payments (card, updated_at, amount) WHERE state = 'captured' AND card <> '';
CREATE INDEX payments_customer_card ON payments (customer_id, card) WHERE state = 'captured' AND card <> '';
-- An order has at most one captured payment, whatever is retried.
CREATE UNIQUE INDEX payments_captured ON payments (order_id) WHERE state = 'captured';

CREATE TABLE refunds (
    id         TEXT   NOT NULL PRIMARY KEY, -- also the idempotency key at the provider
    order_id   TEXT   NOT NULL REFERENCES orders (id),
    payment_id TEXT   NOT NULL REFERENCES payments (id),
    item_id    TEXT   NOT NULL, -- empty: the whole of an unmatched payment
    amount     BIGINT NOT NULL,
    provider   TEXT   NOT NULL DEFAULT '', -- the provider's id; empty: pending
    created_at BIGINT NOT NULL,
    made_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX refunds_order ON refunds (order_id, id);
CREATE INDEX refunds_due ON refunds (created_at) WHERE provider = '';
-- A failed item is refunded once, and so is an unmatched payment.
CREATE UNIQUE INDEX refunds_item ON refunds (payment_id, item_id);

-- The payment method a customer saves for renewals: at most one.
CREATE TABLE payment_methods (
    customer_id       TEXT   NOT NULL PRIMARY KEY REFERENCES customers (id),
    provider_customer TEXT   NOT NULL, -- the provider's customer id
    method            TEXT   NOT NULL DEFAULT '', -- empty: only the provider's customer is known
    label             TEXT   NOT NULL DEFAULT '',
    updated_at        BIGINT NOT NULL
);

-- Results of VIES checks, valid for a limited time.
CREATE TABLE vat_checks (
    vat_id     TEXT   NOT NULL PRIMARY KEY,
    valid      BIGINT NOT NULL,
    checked_at BIGINT NOT NULL
);

-- Price lists, so that all nodes quote the same prices. One row per import; the
-- newest edition applies. Without a row, the built-in list applies.
CREATE TABLE price_lists (
    edition    BIGINT NOT NULL PRIMARY KEY,
    content    TEXT   NOT NULL, -- CSV; empty: the built-in list
    created_at BIGINT NOT NULL
);

-- Invoices.

-- Invoices and corrections to be issued. Package invoice says why they are recorded
-- in the payment's transaction and issued in another.
CREATE TABLE pending_invoices (
    id         TEXT   NOT NULL PRIMARY KEY,
    order_id   TEXT   NOT NULL REFERENCES orders (id),
    refund_id  TEXT   NOT NULL, -- of a correction; empty: the invoice itself
    buyer      TEXT   NOT NULL, -- JSON: the buyer at the time of payment; empty: read when it is issued
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX pending_invoices_document ON pending_invoices (order_id, refund_id);

-- The last number of each series. The row is the lock for the next number.
CREATE TABLE invoice_series (
    series      TEXT   NOT NULL PRIMARY KEY,
    last_number BIGINT NOT NULL
);

-- Rows are added and never changed or deleted. There is no customer here: an invoice
-- belongs to the customer of its order, which may be claimed after the invoice is issued.
CREATE TABLE invoices (
    id          TEXT   NOT NULL PRIMARY KEY,
    order_id    TEXT   NOT NULL REFERENCES orders (id),
    refund_id   TEXT   NOT NULL, -- of a correction
    kind        TEXT   NOT NULL, -- invoice or correction
    series      TEXT   NOT NULL,
    number      BIGINT NOT NULL,
    label       TEXT   NOT NULL, -- series and number as printed
    net         BIGINT NOT NULL,
    vat         BIGINT NOT NULL,
    gross       BIGINT NOT NULL,
    issued_at   BIGINT NOT NULL,
    content     TEXT   NOT NULL  -- JSON: the whole document
);
CREATE UNIQUE INDEX invoices_document ON invoices (order_id, refund_id);
CREATE UNIQUE INDEX invoices_number ON invoices (series, number);
CREATE UNIQUE INDEX invoices_label ON invoices (label);

-- Operations.

CREATE TABLE audit_events (
    id          TEXT   NOT NULL PRIMARY KEY,
    customer_id TEXT   NOT NULL, -- the account concerned; empty: none
    actor_kind  TEXT   NOT NULL,
    actor       TEXT   NOT NULL, -- the account, token, application or operator
    through     TEXT   NOT NULL,
    address     TEXT   NOT NULL,
    action      TEXT   NOT NULL,
    object      TEXT   NOT NULL,
    at          BIGINT NOT NULL
);
CREATE INDEX audit_events_customer ON audit_events (customer_id, id);
-- The history of one object.
CREATE INDEX audit_events_object ON audit_events (customer_id, object, id);

-- The last error of each job that is being retried.
CREATE TABLE job_errors (
    job  TEXT   NOT NULL PRIMARY KEY, -- the job's kind, a colon, and its id
    code TEXT   NOT NULL,
    at   BIGINT NOT NULL
);
CREATE INDEX job_errors_at ON job_errors (at);

-- The keys that columns are sealed with. The keys themselves are never stored. A node
-- that lacks a key which is not retired refuses to start.
CREATE TABLE seal_keys (
    id         TEXT   NOT NULL PRIMARY KEY, -- registrar.SealKey.KeyID
    state      TEXT   NOT NULL, -- next, active, previous or retired
    canary     TEXT   NOT NULL, -- sealed with the key, to verify that a node has the same one
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX seal_keys_active ON seal_keys (state) WHERE state = 'active';

-- Running nodes and their keys: a key rotation waits until all of them are ready.
CREATE TABLE seal_nodes (
    name     TEXT   NOT NULL PRIMARY KEY,
    key_ids  TEXT   NOT NULL, -- the keys it can open with, separated by spaces
    write_id TEXT   NOT NULL, -- the key it seals with
    seen_at  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE seal_nodes;
DROP TABLE seal_keys;
DROP TABLE job_errors;
DROP TABLE audit_events;
DROP TABLE invoices;
DROP TABLE invoice_series;
DROP TABLE pending_invoices;
DROP TABLE price_lists;
DROP TABLE vat_checks;
DROP TABLE payment_methods;
DROP TABLE refunds;
DROP TABLE payments;
DROP TABLE withdrawal_notices;
DROP TABLE webhook_deliveries;
DROP TABLE order_items;
DROP TABLE orders;
DROP TABLE idempotency_keys;
DROP TABLE seen_signatures;
DROP TABLE agent_links;
DROP TABLE agent_secrets;
DROP TABLE agents;
DROP TABLE domain_locks;
DROP TABLE registry_messages;
DROP TABLE registry_records;
DROP TABLE domain_changes;
DROP TABLE provision_items;
DROP TABLE domains;
DROP TABLE refresh_tokens;
DROP TABLE access_tokens;
DROP TABLE grants;
DROP TABLE authorization_codes;
DROP TABLE consents;
DROP TABLE clients;
DROP TABLE mails;
DROP TABLE links;
DROP TABLE personal_access_tokens;
DROP TABLE devices;
DROP TABLE sessions;
DROP TABLE webauthn_challenges;
DROP TABLE passkeys;
DROP TABLE recovery_codes;
DROP TABLE identities;
DROP TABLE registrants;
DROP TABLE customers;
DROP TABLE schema_compatibility;
