-- An act has one outcome. The table is as small as what operators did.
CREATE UNIQUE INDEX "operator_act_ends_key" ON "consent_audit"."operator_act"("ends") WHERE "ends" <> 0;
