-- The change and its categories.
recorded AS (
  INSERT INTO reading_change (user_id, number, at, categories)
  SELECT $1, number, at, ARRAY(SELECT DISTINCT category FROM written ORDER BY category)
  FROM change
  WHERE EXISTS (SELECT FROM written)
),
