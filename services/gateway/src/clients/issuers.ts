import type { Client } from '@connectrpc/connect';
import type { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { ConfigError } from '@phds/service-kit/settings/config';
import type { Logger } from '@phds/service-kit/telemetry/log';
import { ISSUER_DIFFERS, type OpenidProvider, SignInFailure } from './openid-provider.ts';

/**
 * Logs an error for each issuer in the settings that is not the one that authorization or the OpenID provider names: approvals or sign-ins
 * would fail. The gateway serves all the same, because data requests do not depend on them.
 */
export async function checkIssuers({
  authorization,
  publicUrl,
  provider,
  log,
}: {
  readonly authorization: Pick<Client<typeof AuthorizationService>, 'getIssuer'>;
  readonly publicUrl: string;
  /** Null when nobody can sign in here. */
  readonly provider: Pick<OpenidProvider, 'check'> | null;
  readonly log: Pick<Logger, 'error' | 'warn'>;
}): Promise<void> {
  const report = (setting: string, reason: string) => {
    const { problems } = new ConfigError([{ setting, reason }]);
    log.error({ problems }, `${setting}: ${reason}`);
  };
  const ofAuthorization = async () => {
    const { issuer } = await authorization.getIssuer({});
    if (issuer === publicUrl) return;
    report('PUBLIC_URL', `is ${publicUrl}, but ISSUER of authorization is ${issuer}: apps refuse approvals`);
  };
  const ofProvider = async () => {
    await provider?.check().catch((error: unknown) => {
      if (!(error instanceof SignInFailure && error.detail === ISSUER_DIFFERS)) throw error;
      report('OIDC_ISSUER', 'the OpenID provider at this address names another issuer: nobody can sign in');
    });
  };
  const failed = (whose: string) => (err: unknown) =>
    log.warn({ err }, `the issuer of ${whose} could not be checked`);
  await Promise.all([
    ofAuthorization().catch(failed('authorization')),
    ofProvider().catch(failed('the OpenID provider')),
  ]);
}
