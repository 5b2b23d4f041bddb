-- Gives a person the reference by which records identify them, unless they have one.
--
-- Indexes: person_pkey.
-- Values:  $1 person.
INSERT INTO person (user_id) VALUES ($1)
ON CONFLICT (user_id) DO NOTHING;
