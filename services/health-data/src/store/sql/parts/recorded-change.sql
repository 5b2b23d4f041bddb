-- The change and its categories, and number 0 before the first one of a user who has readings.
recorded AS (
  INSERT INTO reading_change (user_id, number, at, categories)
  SELECT $1, number, at, ARRAY(SELECT DISTINCT category FROM written ORDER BY category)
  FROM change
  WHERE EXISTS (SELECT FROM written)
  UNION ALL
  SELECT $1, 0, at, '{}'
  FROM change
  WHERE has_unnumbered AND EXISTS (SELECT FROM written)
),
