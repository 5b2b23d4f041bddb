-- How many access records a person has: by the daily counts for whole days, by the records for the parts of days.
--
-- Indexes: access_day_pkey, access_record_user_ref_id_idx.
-- Values:  $1 reference of the person, $2 grant, $3 app, $4 scope: null for any; $5 and $6 first day and day of the end, $7 to $10 first time and
--          time of the end of two parts of days: null for none.
SELECT (
  (
    SELECT coalesce(sum(r.recorded), 0)
    FROM access_count r
    WHERE
-- include: parts/access-filter.sql
      AND r.day >= $5::date AND r.day < $6::date
  ) + (
    SELECT count(*)
    FROM access_record r
    WHERE
-- include: parts/access-filter.sql
      AND r.refers_to IS NULL AND r.id >= first_id_of($7) AND r.id < first_id_of($8)
  ) + (
    SELECT count(*)
    FROM access_record r
    WHERE
-- include: parts/access-filter.sql
      AND r.refers_to IS NULL AND r.id >= first_id_of($9) AND r.id < first_id_of($10)
  )
)::int AS total;
