import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import { isScope } from '@phds/catalog/scopes';
import { ConsentGrantSchema } from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantService } from '@phds/contracts/phds/consent/v1/grants_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { toMessage } from '@phds/service-kit/rpc/rows';
import { implement } from '@phds/service-kit/rpc/service';
import { CONSENT_ENDERS, CONSENT_READERS, SUPPORTERS } from '@phds/service-kit/trust/callers';
import { findGrantStatus } from './consent-service.ts';
import type { Grants } from './grants.ts';
import type { LivenessChecks } from './liveness.ts';
import { parseKnownId, parseName } from './parameters.ts';

/** phds.consent.v1.GrantService. */
export function createGrantService({
  grants,
  liveness,
}: {
  readonly grants: Pick<Grants, 'list' | 'getAny' | 'endByOperator'>;
  readonly liveness: Pick<LivenessChecks, 'findShared'>;
}) {
  return implement(
    GrantService,
    {
      async checkSharing({ userId, clientId, scope }) {
        if (!isScope(scope)) throw invalidRequest('scope', 'is not a scope');
        const shared = await liveness.findShared(parseUserId(userId), parseName('clientId', clientId), scope);
        if (shared === null) return { shared: false };
        const { grantId, expiresAt, dataFrom } = shared;
        return {
          shared: true,
          grantId,
          expiresAt: timestampFromDate(expiresAt),
          dataFrom: dataFrom ?? '',
        };
      },
      async listGrants({ userId, page, status }) {
        const { items, total } = await grants.list(
          parseUserId(userId),
          findGrantStatus(status),
          toPage(page),
        );
        return { grants: items.map((grant) => toMessage(ConsentGrantSchema, grant)), total };
      },
      async getGrant({ grantId }) {
        const grant = await grants.getAny(parseKnownId('grt', grantId));
        return { grant: toMessage(ConsentGrantSchema, grant), userId: grant.userId };
      },
      async endGrant({ grantId }) {
        return { revokedAt: timestampFromDate(await grants.endByOperator(parseKnownId('grt', grantId))) };
      },
    },
    {
      checkSharing: CONSENT_READERS,
      listGrants: [...CONSENT_READERS, ...SUPPORTERS],
      getGrant: CONSENT_READERS,
      endGrant: [...CONSENT_ENDERS, ...SUPPORTERS],
    },
  );
}
