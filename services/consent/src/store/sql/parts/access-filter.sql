  r.user_ref = $1::uuid AND ($2::text IS NULL OR r.grant_id = $2) AND ($3::text IS NULL OR r.client_id = $3)
  AND ($4::text IS NULL OR $4 = ANY (string_to_array(r.scope, ' ')))
