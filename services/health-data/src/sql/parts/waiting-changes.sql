-- The oldest changes that wait to be reported and that nobody has claimed.
  SELECT user_id, number, at, categories
  FROM reading_change
  WHERE NOT reported AND (claimed_until IS NULL OR claimed_until < statement_timestamp())
  ORDER BY at, user_id, number
  LIMIT 500
