-- name: InsertBrake :exec
INSERT INTO brakes (name, started_at, last_run_at)
VALUES ('terms', sqlc.arg(now), sqlc.arg(now))
ON CONFLICT DO NOTHING;

-- name: GetBrake :one
SELECT * FROM brakes WHERE name = 'terms';

-- name: SetBrakeRun :execrows
UPDATE brakes SET last_run_at = sqlc.arg(now)
WHERE name = 'terms' AND last_run_at = sqlc.arg(was_run);

-- A stop by the clock replaces one by volume.
-- name: StopBrakeByClock :execrows
UPDATE brakes SET last_run_at = sqlc.arg(now), stopped_at = sqlc.arg(now), reason = 'clock'
WHERE name = 'terms' AND last_run_at = sqlc.arg(was_run) AND reason <> 'clock';

-- name: StopBrakeByVolume :execrows
UPDATE brakes SET stopped_at = sqlc.arg(now), reason = 'volume'
WHERE name = 'terms' AND stopped_at = 0;

-- Counts actions of a day, or of the next one if another node's clock is there already; no row if the brake is engaged or the day's limit does not allow them.
-- name: CountBrakeActions :execrows
UPDATE brakes
SET actions = CASE WHEN day >= sqlc.arg(day) THEN actions ELSE 0 END + sqlc.arg(added),
    allowed = CASE WHEN day >= sqlc.arg(day) THEN allowed ELSE 0 END,
    day = CASE WHEN day >= sqlc.arg(day) THEN day ELSE sqlc.arg(day) END
WHERE name = 'terms' AND stopped_at = 0
    AND CASE WHEN day >= sqlc.arg(day) THEN actions ELSE 0 END + sqlc.arg(added)
        <= CASE WHEN day >= sqlc.arg(day) AND allowed > sqlc.arg(day_limit) THEN allowed ELSE sqlc.arg(day_limit) END;

-- name: ConfirmBrake :execresult
UPDATE brakes
SET stopped_at = 0, reason = '', confirmed_by = sqlc.arg(confirmed_by), confirmed_at = sqlc.arg(confirmed_at),
    actions = CASE WHEN day = sqlc.arg(day) THEN actions ELSE 0 END,
    allowed = CASE WHEN day = sqlc.arg(day) THEN actions ELSE 0 END + sqlc.arg(planned),
    day = sqlc.arg(day)
WHERE name = 'terms' AND stopped_at = sqlc.arg(was_stopped) AND stopped_at > 0;

-- The limit bounds the scan; the result is remembered for an hour.
-- name: CountHeldDomains :one
SELECT count(*) FROM (SELECT name FROM domains WHERE status <> 'transferred_out' ORDER BY name LIMIT $1) AS held;
