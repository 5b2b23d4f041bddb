import { expect, test } from '@jest/globals';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import pg from 'pg';
import { runSelfTestRound } from '../../../services/gateway/src/self-test/self-test.ts';

/** Lets revocations be acknowledged and undone, as a consent service would that acknowledges too early. */
async function undoRevocations({ databases }: SharedStack): Promise<AsyncDisposable> {
  const admin = new pg.Client({ connectionString: databases.consent.ownerUrl });
  await admin.connect();
  await admin.query(`
    CREATE FUNCTION consent.undo_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE consent.consent_grant SET revoked_at = NULL, revoked_by = NULL, closed_at = NULL WHERE id = NEW.id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER undo_revocation AFTER UPDATE ON consent.consent_grant
      FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
      EXECUTE FUNCTION consent.undo_revocation()`);
  return {
    async [Symbol.asyncDispose]() {
      await admin.query(
        'DROP TRIGGER undo_revocation ON consent.consent_grant; DROP FUNCTION consent.undo_revocation()',
      );
      await admin.end();
    },
  };
}

test('a self-test finds that revocations hold, and that broken ones are stale', async () => {
  const stack = await useSharedStack();
  const { gateway: url } = stack;
  const { clientId, clientSecret } = await registerApp(url, await signIn(stack, 'operator'), {
    environment: 'sandbox',
    redirectUris: ['http://127.0.0.1/self-test'],
    scopes: ['read:health-data:heart'],
  });
  const run = () =>
    runSelfTestRound(
      { url, clientId, clientSecret },
      { signal: AbortSignal.timeout(60_000), onStep: () => undefined },
    );
  expect(await run()).toEqual({ outcome: 'ok' });
  {
    await using _broken = await undoRevocations(stack);
    expect(await run()).toEqual({ outcome: 'stale' });
  }
  expect(await run()).toEqual({ outcome: 'ok' });
});
