-- Those that a person has claimed, and unclaimed ones of the person's apps. Values: $1 person.
WHERE (p.claimed_by = $1 OR (p.claimed_by IS NULL AND p.client_id IN (SELECT client_id FROM app WHERE owner_id = $1)))
