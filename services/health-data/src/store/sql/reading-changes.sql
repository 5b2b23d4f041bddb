-- Stored and deleted readings of a category behind a place in the order of changes: number of the change, then start, type,
-- source and end of the reading, which are unique. Never in the order of ids, which are hashes of the user id. Each row
-- also has the state of the person's changes. A single row without an id when there is nothing behind the place.
--
-- A reading has one row, with its latest change, in one of the two tables. So a change that is made while a reader goes
-- from page to page moves a row to the end, and never before the reader's place.
--
-- Indexes: reading_changes_idx, deleted_reading_changes_idx, reading_change_pkey, reading_user_id_category_start_at_id_idx.
-- Values:  $1 user, $2 category, $3 metric type or null, $4 beginning of the window, $5 limit,
--          $6 to $10 the place: number, start, type, source and end, $11 number of the last change before it.
WITH
stored AS (
  SELECT change_number, start_at, type, source, end_at, id, value, false AS is_deleted
  FROM reading
  WHERE user_id = $1 AND category = $2 AND change_number >= 0 AND ($3::text IS NULL OR type = $3)
    AND start_at >= $4::timestamptz
    AND (change_number, start_at, type, source, end_at)
      > ($6::bigint, $7::timestamptz, $8::text, $9::text, $10::timestamptz)
  ORDER BY change_number, start_at
  FETCH FIRST ($5::bigint) ROWS WITH TIES
),
deleted AS (
  SELECT change_number, start_at, type, source, end_at, id, NULL::float8 AS value, true AS is_deleted
  FROM deleted_reading
  WHERE user_id = $1 AND category = $2 AND ($3::text IS NULL OR type = $3)
    AND start_at >= $4::timestamptz
    AND (change_number, start_at, type, source, end_at)
      > ($6::bigint, $7::timestamptz, $8::text, $9::text, $10::timestamptz)
  ORDER BY change_number, start_at
  FETCH FIRST ($5::bigint) ROWS WITH TIES
),
page AS (
  SELECT *
  FROM (SELECT * FROM stored UNION ALL SELECT * FROM deleted) AS changed
  ORDER BY change_number, start_at, type COLLATE "C", source COLLATE "C", end_at
  LIMIT $5::bigint
),
last_visible AS (
  SELECT greatest(
    (
      SELECT change_number
      FROM reading
      WHERE user_id = $1 AND category = $2 AND change_number >= 0 AND start_at >= $4::timestamptz
      ORDER BY change_number DESC
      LIMIT 1
    ),
    (
      SELECT change_number
      FROM deleted_reading
      WHERE user_id = $1 AND category = $2 AND start_at >= $4::timestamptz
      ORDER BY change_number DESC
      LIMIT 1
    )
  ) AS number
)
SELECT page.id, page.type, page.value, page.source, page.start_at, page.end_at, page.change_number, change.at,
  page.is_deleted, latest.number, latest.at,
  (SELECT at FROM reading_change WHERE user_id = $1 AND number = $11::bigint),
  (SELECT at FROM reading_change WHERE user_id = $1 AND number = (SELECT number FROM last_visible)),
  EXISTS (SELECT FROM reading WHERE user_id = $1)
FROM (SELECT) AS always
LEFT JOIN LATERAL (
  SELECT number, at
  FROM reading_change
  WHERE user_id = $1
  ORDER BY number DESC
  LIMIT 1
) AS latest ON true
LEFT JOIN page ON true
LEFT JOIN LATERAL (
  SELECT at
  FROM reading_change
  WHERE user_id = $1 AND number = page.change_number
  OFFSET 0
) AS change ON true
ORDER BY page.change_number, page.start_at, page.type COLLATE "C", page.source COLLATE "C", page.end_at;
