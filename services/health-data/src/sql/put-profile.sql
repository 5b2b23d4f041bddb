-- Sets the columns of a profile that are given, and leaves the others.
--
-- Indexes: profile_pkey.
-- Values:  $1 user, $2 to $6 columns, $7 names of the columns that are given.
INSERT INTO profile AS kept (user_id, name, gender, date_of_birth, blood_type, time_zone)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id) DO UPDATE SET
  name          = CASE WHEN 'name'          = ANY($7::text[]) THEN excluded.name          ELSE kept.name          END,
  gender        = CASE WHEN 'gender'        = ANY($7::text[]) THEN excluded.gender        ELSE kept.gender        END,
  date_of_birth = CASE WHEN 'date_of_birth' = ANY($7::text[]) THEN excluded.date_of_birth ELSE kept.date_of_birth END,
  blood_type    = CASE WHEN 'blood_type'    = ANY($7::text[]) THEN excluded.blood_type    ELSE kept.blood_type    END,
  time_zone     = CASE WHEN 'time_zone'     = ANY($7::text[]) THEN excluded.time_zone     ELSE kept.time_zone     END;
