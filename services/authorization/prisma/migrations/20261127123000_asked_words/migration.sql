ALTER TABLE "authorization_request" ADD COLUMN "asked_words" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "authorization_code" ADD COLUMN "asked_words" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "token_family" ADD COLUMN "asked_words" TEXT[] DEFAULT ARRAY[]::TEXT[];
