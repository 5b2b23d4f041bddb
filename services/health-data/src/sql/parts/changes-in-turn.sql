-- The answer: of the `waiting` ones, the first of each person before the second of any, so that an import does not keep
-- back everybody else.
turns AS (
  SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY number) AS turn
  FROM waiting
)
SELECT user_id AS "userId", number, at, categories
FROM turns
ORDER BY turn, at, user_id
LIMIT $1;
