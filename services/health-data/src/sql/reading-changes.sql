-- Stored and deleted readings of a category behind a position in the order of changes: number of the change, then start, type,
-- source and end of the reading, which are unique. Never in the order of ids, which are hashes of the user id. Each row
-- also has the state of the person's changes. A single row without an id when there is nothing behind the position.
--
-- A reading has one row, with its latest change, in one of the two tables. So a change that is made while a reader goes
-- from page to page moves a row to the end, and never before the reader's position.
--
-- The indexes contain the start but not the type. So rows before the window are passed over in the index, however many
-- there are, and nothing in the answer depends on them. Of the rows in the window, at most the next $12 of each table are
-- searched for the type (with ties of the last). If a search ends there without a full page, the page ends at the same
-- place, `search_end`.
--
-- Indexes: reading_changes_idx, deleted_reading_changes_idx, reading_change_pkey.
-- Values:  $1 user, $2 category, $3 metric type or null, $4 beginning of the window, $5 limit,
--          $6 to $10 the position: number, start, type, source and end, $11 number of the anchor,
--          $12 number of rows to search, the limit without a type.
WITH
searched_stored AS MATERIALIZED (
  SELECT change_number, start_at, type, source, end_at, id, value AS value, false AS is_deleted
  FROM reading
  WHERE user_id = $1 AND category = $2 AND change_number >= 0
    AND (change_number, start_at, type, source, end_at)
      > ($6::bigint, $7::timestamptz, $8::text, $9::text, $10::timestamptz)
    AND start_at >= $4::timestamptz
  ORDER BY change_number, start_at
  FETCH FIRST ($12::bigint) ROWS WITH TIES
),
stored AS (
  SELECT *
  FROM searched_stored
  WHERE $3::text IS NULL OR type = $3
  ORDER BY change_number, start_at
  FETCH FIRST ($5::bigint) ROWS WITH TIES
),
searched_deleted AS MATERIALIZED (
  SELECT change_number, start_at, type, source, end_at, id, NULL::float8 AS value, true AS is_deleted
  FROM deleted_reading
  WHERE user_id = $1 AND category = $2
    AND (change_number, start_at, type, source, end_at)
      > ($6::bigint, $7::timestamptz, $8::text, $9::text, $10::timestamptz)
    AND start_at >= $4::timestamptz
  ORDER BY change_number, start_at
  FETCH FIRST ($12::bigint) ROWS WITH TIES
),
deleted AS (
  SELECT *
  FROM searched_deleted
  WHERE $3::text IS NULL OR type = $3
  ORDER BY change_number, start_at
  FETCH FIRST ($5::bigint) ROWS WITH TIES
),
search_end AS (
  SELECT change_number, start_at
  FROM (
    (
      SELECT change_number, start_at
      FROM searched_stored
      WHERE $3::text IS NOT NULL AND (SELECT count(*) FROM stored) < $5
      ORDER BY change_number, start_at
      OFFSET $12::bigint - 1
      LIMIT 1
    )
    UNION ALL
    (
      SELECT change_number, start_at
      FROM searched_deleted
      WHERE $3::text IS NOT NULL AND (SELECT count(*) FROM deleted) < $5
      ORDER BY change_number, start_at
      OFFSET $12::bigint - 1
      LIMIT 1
    )
  ) AS ends
  ORDER BY change_number, start_at
  LIMIT 1
),
page AS (
  SELECT *
  FROM (SELECT * FROM stored UNION ALL SELECT * FROM deleted) AS changed
  WHERE coalesce((change_number, start_at) <= (SELECT change_number, start_at FROM search_end), true)
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
  (SELECT number FROM last_visible),
  (SELECT at FROM reading_change WHERE user_id = $1 AND number = (SELECT number FROM last_visible)),
  search_end.change_number, search_end.start_at,
  (SELECT at FROM reading_change WHERE user_id = $1 AND number = search_end.change_number)
FROM (SELECT) AS always
LEFT JOIN LATERAL (
  SELECT number, at
  FROM reading_change
  WHERE user_id = $1
  ORDER BY number DESC
  LIMIT 1
) AS latest ON true
LEFT JOIN search_end ON true
LEFT JOIN page ON true
LEFT JOIN LATERAL (
  SELECT at
  FROM reading_change
  WHERE user_id = $1 AND number = page.change_number
  OFFSET 0
) AS change ON true
ORDER BY page.change_number, page.start_at, page.type COLLATE "C", page.source COLLATE "C", page.end_at;
