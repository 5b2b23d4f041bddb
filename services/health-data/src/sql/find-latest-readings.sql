-- The latest start of the readings of each change and category that have not changed again since. A category without such
-- readings is left out, because the later change reports it.
--
-- Indexes: reading_changes_idx, deleted_reading_changes_idx.
-- Values:  $1 to $4 categories of changes: user, number, time, category.
SELECT taken.user_id AS "userId", taken.number, taken.category, taken.at, latest.start_at AS "latestReadingAt"
FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[]) AS taken(user_id, number, at, category)
CROSS JOIN LATERAL (
  SELECT greatest(
    (
      SELECT max(r.start_at)
      FROM reading AS r
      WHERE r.user_id = taken.user_id AND r.category = taken.category AND r.change_number = taken.number
        AND r.change_number >= 0
    ),
    (
      SELECT max(d.start_at)
      FROM deleted_reading AS d
      WHERE d.user_id = taken.user_id AND d.category = taken.category AND d.change_number = taken.number
    )
  ) AS start_at
) AS latest
WHERE latest.start_at IS NOT NULL;
