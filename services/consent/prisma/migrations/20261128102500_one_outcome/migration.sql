-- An act has one outcome.
-- locks: operators act seldom, and the table is as small as what they did.
CREATE UNIQUE INDEX "operator_act_ends_key" ON "consent_audit"."operator_act"("ends") WHERE "ends" <> 0;
