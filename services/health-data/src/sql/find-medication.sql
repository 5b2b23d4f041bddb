-- Whether a person has a medication.
--
-- Indexes: medication_pkey.
-- Values:  $1 user, $2 row id.
SELECT
FROM medication
WHERE user_id = $1 AND id = $2;
