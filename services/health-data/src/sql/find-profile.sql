-- The profile of a person.
--
-- Indexes: profile_pkey.
-- Values:  $1 user.
SELECT name, gender, date_of_birth::text AS "dateOfBirth", blood_type AS "bloodType"
FROM profile
WHERE user_id = $1;
